import CTestKernel
import Glibc

/// A private message bus with services that python-dbusmock simulates, for the lifetime of the value.
package final class PrivateBus {
  package let address: String
  private let daemon: Child
  private let services: Child

  /// Whether dbus-daemon and python-dbusmock are installed.
  package static let isInstalled: Bool = {
    guard let child = Child(["/usr/bin/python3", "-c", "import dbusmock; print('yes')"]) else { return false }
    return child.readLine() == "yes" && access("/usr/bin/dbus-daemon", X_OK) == 0
  }()

  package init?() {
    let daemon = Child(["/usr/bin/dbus-daemon", "--session", "--nofork", "--print-address=1"])
    guard let daemon, let address = daemon.readLine() else { return nil }
    let environment = ["DBUS_SYSTEM_BUS_ADDRESS=\(address)"]
    guard let services = Child(["/usr/bin/python3", "-c", Self.program], environment: environment),
      services.readLine() == "ready"
    else { return nil }
    (self.address, self.daemon, self.services) = (address, daemon, services)
  }

  /// Executes a line of Python in the process of the services.
  ///
  /// After `hang()`, the services respond to no call until the next line, which is not executed.
  package func order(_ line: String) -> String? {
    services.write(line + "\n")
    return services.readLine()
  }

  /// Simulates NetworkManager by its template, and ModemManager and the desktop's portal by hand, until its
  /// input ends.
  private static let program = #"""
    import sys, dbus, dbus.service, dbus.mainloop.glib
    from gi.repository import GLib
    from dbusmock.mockobject import DBusMockObject, objects
    output, sys.stdout = sys.stdout, open('/dev/null', 'w')
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    NM, MM, DEVICE = 'org.freedesktop.NetworkManager', 'org.freedesktop.ModemManager1', \
        'org.freedesktop.NetworkManager.Device'
    PORTAL = 'org.freedesktop.portal.Desktop'
    names = [dbus.service.BusName(name, bus) for name in (NM, MM, PORTAL)]
    manager = DBusMockObject(names[0], '/org/freedesktop', 'x', {}, is_object_manager=True)
    manager.AddTemplate('networkmanager', {})
    modems = DBusMockObject(names[1], '/org/freedesktop/ModemManager1', MM, {}, is_object_manager=True)
    def device(name, metered, connectivity=4):
        path = manager.AddEthernetDevice('Device' + name, name, 100)
        objects[path].props[DEVICE]['Interface'] = name
        objects[path].props[DEVICE]['IpInterface'] = name
        objects[path].AddProperty(DEVICE, 'Metered', dbus.UInt32(metered))
        objects[path].AddProperty(DEVICE, 'Ip4Connectivity', dbus.UInt32(connectivity))
    def mark(name, metered):
        path = '/org/freedesktop/NetworkManager/Devices/Device' + name
        objects[path].UpdateProperties(DEVICE, {'Metered': dbus.UInt32(metered)})
    def modem(interface, registration, suspended):
        bearer = '/org/freedesktop/ModemManager1/Bearer/0'
        modems.AddObject('/org/freedesktop/ModemManager1/Modem/0', MM + '.Modem',
            {'Bearers': dbus.Array([dbus.ObjectPath(bearer)], signature='o'), 'Model': 'M', 'MaxBearers': 1.5}, [])
        objects['/org/freedesktop/ModemManager1/Modem/0'].AddProperties(MM + '.Modem.Modem3gpp',
            {'RegistrationState': dbus.UInt32(registration)})
        modems.AddObject(bearer, MM + '.Bearer', {'Interface': interface, 'Suspended': suspended}, [])
    DESKTOP, NETWORK = '/org/freedesktop/portal/desktop', 'org.freedesktop.portal.NetworkMonitor'
    def portal(metered, connectivity):
        if DESKTOP not in objects: objects[DESKTOP] = DBusMockObject(names[2], DESKTOP, PORTAL, {})
        objects[DESKTOP].AddMethod(NETWORK, 'GetStatus', '', 'a{sv}',
            "ret = {'available': True, 'metered': %r, 'connectivity': dbus.UInt32(%d)}" % (metered, connectivity))
    def portal_says(metered, connectivity):
        portal(metered, connectivity)
        objects[DESKTOP].EmitSignal(NETWORK, 'changed', '', [])
    def hang():
        print('done', file=output, flush=True)
        sys.stdin.readline()
    def obey(source, condition):
        line = sys.stdin.readline()
        if not line: sys.exit()
        exec(line, globals())
        print('done', file=output, flush=True)
        return True
    GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, obey)
    print('ready', file=output, flush=True)
    GLib.MainLoop().run()
    """#
}
