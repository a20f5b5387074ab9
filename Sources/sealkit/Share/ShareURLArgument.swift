import ArgumentParser
import SealKit

/// A share URL: an argument, or, so that its secret shows in no list of processes, a line of standard input.
struct ShareURLArgument: ParsableArguments {
    @Argument(
        help: "The share URL, with everything after the #. Without one, or with -, it is read from standard input.")
    var url: String?

    func read() throws(SealKitError) -> String {
        guard let url, url != "-" else { return try Prompt.pipedSecret("Share URL: ") }
        return url
    }
}
