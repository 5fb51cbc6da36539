import Feedimg

/// Shows each item of a file of JSON lines: the file of its image, or why there is none.
@main
enum Show {
  static func main() async {
    do {
      let loader = try ImageLoader()
      while let line = readLine() {
        for item in try FeedItem.items(json: Array(line.utf8)) { await show(item, loader) }
      }
    } catch {
      print(error)
    }
  }

  static func show(_ item: FeedItem, _ loader: ImageLoader) async {
    do {
      let image = try await loader.load(item)
      print(item.id ?? "-", image.variant.role, image.source, image.path ?? "not kept")
    } catch {
      print(item.id ?? "-", error.code == .nothingToShow ? "placeholder" : "\(error)")
    }
  }
}
