import FeedimgPipeline
package import FeedimgReachability
import Glibc

extension NetworkServices {
  /// Chooses the D-Bus services that a configuration leads to.
  ///
  /// The addresses of the buses come from D-Bus's own variables, or are the usual ones. The portal is used
  /// only inside a sandbox, because netlink tells more outside of one.
  package init(of configuration: ImageLoader.Configuration) {
    let environment = configuration.environment
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    self.init(system: variable("DBUS_SYSTEM_BUS_ADDRESS").map { .at($0) } ?? .system)
    // Snap sets this variable; Flatpak creates this file.
    guard variable("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 else { return }
    let usual = variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    portal = (variable("DBUS_SESSION_BUS_ADDRESS") ?? usual).map { .at($0) } ?? .none
  }
}
