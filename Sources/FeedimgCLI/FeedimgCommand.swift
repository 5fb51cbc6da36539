import ArgumentParser

/// `feedimg`: the root of all commands.
struct FeedimgCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feedimg",
    abstract: "Choose and load the images of a feed by network, settings and cache.",
    discussion: """
      A feed item has an original and a thumbnail. feedimg chooses which of them to show and loads it. A \
      policy decides: a table that people can read. The default policy:

        the original is cached   show it
        Wi-Fi, Ethernet          load the original
        cellular, unknown kind   load the thumbnail, or the original if the setting
                                 always-load-originals-on-cellular is on
        offline                  show the cached thumbnail, or else the placeholder

      EXAMPLES
        feedimg resolve item.json                     print the choice and the reason
        feedimg resolve item.json --network cellular  the same on another network
        feedimg load item.json -o photo.jpg           load from the cache or the network
        feedimg load https://x.example/a.jpg          load a single image
        feedimg prefetch feed.json                    fill the cache where data is free
        feedimg items feed.xml                        print the pictures of a feed as items
        feedimg network --watch                       print each change of the network
        feedimg settings set always-load-originals-on-cellular yes
        feedimg policy table                          print all decisions of the policy
        feedimg serve                                 share cache and downloads over HTTP
        feedimg gateway                               print the addresses for other clients

      An item is JSON:
        {"originalImage": "https://x.example/a.jpg",
         "thumbnailImage": "https://x.example/a-small.jpg"}
      feedimg also reads feeds such as RSS and responses of Mastodon; see `feedimg items --help`.

      EXIT STATUS
        0  success
        1  the network, a server or the disk failed, or a policy has errors
        2  an option, an item, a setting or a policy is invalid
        3  only the placeholder can be shown (load)
      """,
    version: Version.text,
    // Each states its `commandName`: the parser would derive it by reflection, 2 ms at each start.
    subcommands: [
      ResolveCommand.self, LoadCommand.self, PrefetchCommand.self, ItemsCommand.self, NetworkCommand.self,
      SettingsCommand.self, CacheCommand.self, PolicyCommand.self, UsageCommand.self, ServeCommand.self,
      GatewayCommand.self, DoctorCommand.self,
    ]
  )
}
