"""``python -m readagent_core``: inspect, read, ask, export and evaluate from the command line."""

from readagent_core.cli.app import main

if __name__ == "__main__":
    main()
