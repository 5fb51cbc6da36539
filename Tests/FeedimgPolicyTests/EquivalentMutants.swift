/// Mutations of the shipped tables that change no decision, so that no test can detect them.
///
/// Most follow from the order of the rules. Such a row excludes states that rows above already decide, or
/// names another image for a cached original.
enum EquivalentMutants {
  /// One mutation per line, by the name of the policy.
  static let listed: [String: String] = [
    "default": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 3, original: - becomes not cached
    rule 3, network: cellular, other becomes not offline
    rule 3, network: cellular, other becomes cellular, other, wifi
    rule 3, network: cellular, other becomes cellular, other, ethernet
    rule 3, always original: yes becomes not no
    rule 4, original: - becomes not cached
    rule 4, network: cellular, other becomes not offline
    rule 4, network: cellular, other becomes cellular, other, wifi
    rule 4, network: cellular, other becomes cellular, other, ethernet
    rule 4, always original: no becomes -
    rule 4, always original: no becomes not yes
    rule 5, original: - becomes not cached
    rule 5, network: offline becomes -
    rule 5, network: offline becomes not wifi
    rule 5, network: offline becomes not ethernet
    rule 5, network: offline becomes not cellular
    rule 5, network: offline becomes not other
    rule 5, network: offline becomes offline, wifi
    rule 5, network: offline becomes offline, ethernet
    rule 5, network: offline becomes offline, cellular
    rule 5, network: offline becomes offline, other
    rule 5, thumbnail: cached becomes not remote
    rule 5, thumbnail: cached becomes cached, none
    rule 5, → image: thumbnail becomes original
    rule 5, → image: thumbnail becomes cached
    rule 6, original: - becomes not cached
    rule 6, network: offline becomes -
    rule 6, network: offline becomes not wifi
    rule 6, network: offline becomes not ethernet
    rule 6, network: offline becomes not cellular
    rule 6, network: offline becomes not other
    rule 6, network: offline becomes offline, wifi
    rule 6, network: offline becomes offline, ethernet
    rule 6, network: offline becomes offline, cellular
    rule 6, network: offline becomes offline, other
    rule 6, thumbnail: - becomes not cached
    """,
    "always-original": """
    rule 1, → image: cached becomes original
    rule 2, network: - becomes not offline
    """,
    "budgeted": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 2, → image: cached becomes original
    rule 2, → image: cached becomes thumbnail
    rule 3, original: - becomes not cached
    rule 3, network: - becomes not offline
    rule 4, original: - becomes not cached
    rule 4, network: - becomes not offline
    rule 4, metered: - becomes not no
    rule 5, original: - becomes not cached
    rule 5, network: - becomes not offline
    rule 5, metered: - becomes not no
    rule 6, original: - becomes not cached
    rule 6, network: - becomes not offline
    rule 6, metered: - becomes not no
    """,
    "data-saver": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 2, → image: cached becomes original
    rule 2, → image: cached becomes thumbnail
    rule 3, original: - becomes not cached
    rule 3, network: - becomes not offline
    rule 3, data saver: on becomes not off
    rule 4, original: - becomes not cached
    rule 4, network: - becomes not offline
    rule 4, metered: yes, unknown becomes not no
    rule 4, data saver: - becomes off
    rule 4, data saver: - becomes not on
    rule 5, original: - becomes not cached
    rule 5, network: - becomes not offline
    rule 5, metered: no becomes -
    rule 5, metered: no becomes not yes
    rule 5, metered: no becomes not unknown
    rule 5, metered: no becomes no, yes
    rule 5, metered: no becomes no, unknown
    rule 5, data saver: - becomes off
    rule 5, data saver: - becomes not on
    """,
    "metered": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 2, → image: cached becomes original
    rule 2, → image: cached becomes thumbnail
    rule 3, original: - becomes not cached
    rule 3, network: - becomes not offline
    rule 3, always original: - becomes no
    rule 3, always original: - becomes not yes
    rule 4, original: - becomes not cached
    rule 4, network: wifi, ethernet becomes wifi, ethernet, offline
    rule 4, metered: unknown becomes not yes
    rule 4, metered: unknown becomes unknown, no
    rule 4, always original: - becomes no
    rule 4, always original: - becomes not yes
    rule 5, original: - becomes not cached
    rule 5, network: - becomes not offline
    rule 5, metered: - becomes not no
    rule 5, always original: yes becomes not no
    rule 6, original: - becomes not cached
    rule 6, network: - becomes not offline
    rule 6, metered: - becomes not no
    rule 6, always original: no becomes -
    rule 6, always original: no becomes not yes
    """,
    "roaming-aware": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 2, → image: cached becomes original
    rule 2, → image: cached becomes thumbnail
    rule 3, original: - becomes not cached
    rule 3, network: wifi, ethernet becomes wifi, ethernet, offline
    rule 4, original: - becomes not cached
    rule 4, network: - becomes not wifi
    rule 4, network: - becomes not ethernet
    rule 4, network: - becomes not offline
    rule 4, roaming: yes becomes not no
    rule 5, original: - becomes not cached
    rule 5, network: - becomes not wifi
    rule 5, network: - becomes not ethernet
    rule 5, network: - becomes not offline
    rule 5, roaming: no becomes -
    rule 5, roaming: no becomes not yes
    rule 5, always original: yes becomes not no
    rule 6, original: - becomes not cached
    rule 6, network: - becomes not wifi
    rule 6, network: - becomes not ethernet
    rule 6, network: - becomes not offline
    rule 6, roaming: no becomes -
    rule 6, roaming: no becomes not yes
    rule 6, always original: no becomes -
    rule 6, always original: no becomes not yes
    """,
    "wifi-only": """
    rule 1, → image: original becomes cached
    rule 2, original: - becomes not cached
    rule 3, original: - becomes not cached
    rule 3, network: - becomes not wifi
    rule 3, network: - becomes not ethernet
    """,
  ]
}
