"""Options of the sessions."""


def pytest_addoption(parser):
    parser.addoption("--kubeshape", default="kubeshape", help="the program")
    parser.addoption("--folder", action="append", default=[], help="a folder with manifests; may be repeated")
    parser.addoption("--count", type=int, default=300, help="the maximum number of files")
    parser.addoption("--seed", type=int, default=48, help="chooses the edits")
    parser.addoption("--messages", type=int, default=3000, help="the number of messages")
