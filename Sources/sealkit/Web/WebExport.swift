import ArgumentParser
import Foundation
import SealKit
import SealPrimitives
import SealServer

struct WebExport: WebClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the web client as static files, for another host than the server's.",
        discussion: """
            The folder has share.html for every path below /s/, the files below /w/, each also compressed, and headers.txt: what \
            that host has to send with all of them. So whoever runs the server cannot alter the page alone.

            The page calls the server, which lets it where it is started with --web-at and the page's origin. With --passed-on \
            the host passes /1/ and /database/ on to the server instead.

              sealkit web export site --server https://notes.example.org
            """)

    @Argument(help: "The folder, where there is nothing yet.", completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("Whose shares it shows, as https://host[:port].", valueName: "address"))
    var server: String

    @Flag(help: "The host passes /1/ and /database/ on to the server, which need not know of it.")
    var passedOn = false

    @OptionGroup var web: WebServerOptions
    @OptionGroup var bundles: WebBundleOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (origin, bundle) = (try web.origin(of: server), try bundles.read())
        do {
            try WebFolder.write(bundle, for: passedOn ? .behind(origin) : .at(origin), to: URL(fileURLWithPath: folder))
        } catch let error as CocoaError {
            let isThere = error.code == .fileWriteFileExists
            throw Failure.Local(
                status: isThere ? .badInput : .cannotWrite,
                reason: isThere
                    ? "there is something at \(folder) already"
                    : "\(folder) cannot be written: \(error.localizedDescription)",
                remedy: "name a folder that is not there yet, below one that you may write to")
        }
        try shown.output.result(
            "\(folder): web client \(bundle.hash.hex) for \(origin)", bare: folder,
            json: ["folder": .string(folder), "webClient": .string(bundle.hash.hex), "server": .string(origin)])
    }
}
