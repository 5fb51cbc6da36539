/// Policies with one mistake each, for `feedimg policy check`.
enum PolicyFixtures {
  /// The default rule in words, transcribed literally.
  ///
  /// It forgets Ethernet and networks of unknown kind.
  static let gap = """
    # gap

    | original | network  | always original | thumbnail | → image     |
    |----------|----------|-----------------|-----------|-------------|
    | cached   | -        | -               | -         | original    |
    | -        | wifi     | -               | -         | original    |
    | -        | cellular | yes             | -         | original    |
    | -        | cellular | no              | -         | thumbnail   |
    | -        | offline  | -               | cached    | thumbnail   |
    | -        | offline  | -               | -         | placeholder |

    """

  /// Three rules together hide the last one, and the rule below hides the second.
  static let shadow = """
    # shadow

    | original | network        | always original | → image   |
    |----------|----------------|-----------------|-----------|
    | cached   | -              | -               | original  |
    | -        | wifi           | -               | original  |
    | -        | wifi, ethernet | -               | original  |
    | -        | -              | yes             | original  |
    | -        | -              | no              | thumbnail |
    | -        | offline        | -               | cached    |

    """

  /// A misspelled value in line 5.
  static let typo = """
    # typo2

    | original | network | → image   |
    |----------|---------|-----------|
    | cached   | celular | original  |
    | -        | -       | thumbnail |

    """

  /// Wi-Fi is not the same as unmetered.
  static let promise = """
    # promise

    | original | network        | → image   |
    |----------|----------------|-----------|
    | cached   | -              | original  |
    | -        | wifi, ethernet | original  |
    | -        | -              | thumbnail |

    ## Promises

    | metered | → load       |
    |---------|--------------|
    | yes     | not original |

    """

  /// It loads more when data is metered.
  static let greedy = """
    # greedy

    | original | metered | → image   |
    |----------|---------|-----------|
    | cached   | -       | original  |
    | -        | yes     | original  |
    | -        | -       | thumbnail |

    """
}
