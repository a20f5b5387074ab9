import ArgumentParser
import Foundation
import SealKit
import SealServer

struct WebCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "The web client, without taking a server's word for its script.",
        discussion: """
            The page at a share's URL is a script that the server sends: one that is altered for somebody reads what they read. \
            This program has the same page in it, where it was built with it (sealkit --version says so).

            verify finds a page that is altered for everybody, or for whoever looks as it does; not one for a single person. With \
            open no script comes from the server.
            """,
        subcommands: [WebVerify.self, WebOpen.self, WebExport.self])
}

/// How a server of the web client is reached.
struct WebServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of an authority to trust besides the system's. Default: $SEALKIT_CA_FILE.", valueName: "file"),
        completion: .file())
    var caFile: String?

    /// Scheme, host and port, as they are signed at a login.
    func origin(of server: String) throws(SealKitError) -> String { try HTTPTransport(server: server).origin }

    func requests() throws(SealKitError) -> WebClientRequests {
        let file = caFile ?? GlobalOptions.variable("SEALKIT_CA_FILE")
        do { return try WebClientRequests(authorities: file) } catch {
            throw SealKitError(
                .invalidArguments, "there is no certificate of an authority to read in \(file ?? "")",
                remedy: "name a PEM file with --ca-file")
        }
    }
}

/// A command about the web client.
protocol WebClientCommand: SpeakingCommand {
    var shown: ShownOptions { get }
}

extension WebClientCommand {
    var isJSON: Bool { shown.json }
}

/// Which web client it is.
struct WebBundleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Another web client than the one in this program: the file .build/web/bundle of make web.",
            valueName: "file"), completion: .file())
    var bundle: String?

    func read() throws -> WebBundle {
        if let bundle {
            guard let data = try GivenFile.contents(of: bundle) else {
                throw Failure.Local(
                    status: .notFound, reason: "there is no file to read at \(bundle)", remedy: "check --bundle")
            }
            do { return try WebBundle(archive: [UInt8](data)) } catch {
                throw Failure.Local(
                    status: .badInput, reason: "\(bundle) is no web client",
                    remedy: "name the file .build/web/bundle of make web")
            }
        }
        do {
            if let built = try WebBundle.built() { return built }
        } catch { throw Failure.Local(status: .other, reason: "\(error)") }
        throw Failure.Local(
            status: .notFound, reason: "this program was built without the web client",
            remedy: "run make web and build it again, or name a bundle with --bundle")
    }
}
