/// Policies with one slip each, as `feedimg policy check` meets them.
enum PolicyFixtures {
  /// The rule in words, transcribed literally: it forgets Ethernet, and networks that tell no kind.
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

  /// The last rule is hidden by three together, and the second by the one below it.
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

  /// A misspelt value in line 5.
  static let typo = """
    # typo2

    | original | network | → image   |
    |----------|---------|-----------|
    | cached   | celular | original  |
    | -        | -       | thumbnail |

    """

  /// Wi-Fi is not unmetered.
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

  /// Spends where it costs.
  static let greedy = """
    # greedy

    | original | metered | → image   |
    |----------|---------|-----------|
    | cached   | -       | original  |
    | -        | yes     | original  |
    | -        | -       | thumbnail |

    """
}
