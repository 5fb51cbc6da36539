// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "show",
  dependencies: [.package(path: "feedimg")],
  targets: [
    .executableTarget(
      name: "show",
      dependencies: [.product(name: "Feedimg", package: "feedimg")],
      path: ".",
      exclude: ["feedimg"],
      sources: ["show.swift"]
    )
  ]
)
