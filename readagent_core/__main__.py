"""``python -m readagent_core``: inspect, read, ask, export and evaluate from the command line."""

from readagent_core.command_line.app import main

if __name__ == "__main__":
    main()
