import FeedimgModel
import Testing

struct DisplaySizeTests {
  struct View: CustomTestStringConvertible, Sendable {
    var width: Double
    var height: Double
    /// The size in pixels; nil for the size of the image.
    var pixels: PixelSize?
    var fitting: DisplaySize.Fitting?
    var testDescription: String
  }

  static let views: [View] = [
    View(
      width: 640,
      height: 480,
      pixels: PixelSize(width: 1280, height: 960),
      fitting: .fill,
      testDescription: "both sides"
    ),
    View(
      width: 640,
      height: 0,
      pixels: PixelSize(width: 1280, height: 1_000_000),
      fitting: .fit,
      testDescription: "no codec accepts an image of such a height"
    ),
    View(
      width: -1,
      height: 480,
      pixels: PixelSize(width: 1_000_000, height: 960),
      fitting: .fit,
      testDescription: "a negative side is absent"
    ),
    View(
      width: .nan,
      height: 480,
      pixels: PixelSize(width: 1_000_000, height: 960),
      fitting: .fit,
      testDescription: "so is one that is not a number"
    ),
    View(width: 0, height: 0, pixels: nil, fitting: nil, testDescription: "no side"),
  ]

  @Test(arguments: views)
  func `an absent side sets no limit, and nothing is cropped`(_ view: View) {
    let size = DisplaySize(
      maximumWidth: view.width,
      maximumHeight: view.height,
      scale: 2,
      fitting: .fill
    )
    #expect(size?.pixels == view.pixels)
    #expect(size?.fitting == view.fitting)
    #expect(size?.hasShape == view.fitting.map { $0 == .fill })
    guard let limits = size?.limits else { return }
    #expect(limits.width == (view.width > 0 ? view.width : 0))
    #expect(limits.height == (view.height > 0 ? view.height : 0))
  }

  @Test func `an absent scale is one`() {
    let size = DisplaySize(maximumWidth: 640, maximumHeight: 480, scale: 0)
    #expect(size?.pixels == PixelSize(width: 640, height: 480))
  }
}
