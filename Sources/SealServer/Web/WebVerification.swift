import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SealPrimitives

/// Holds what a server sends to browsers against a bundle, byte by byte: the page, each file in each of its forms, and
/// what goes with them.
///
/// It asks with what a browser sends, of pages and of each kind of file, and where it is told a share's path for that
/// page too. A server can still give one person another page than whoever verifies: it knows them by their address, by
/// when they ask, and whoever looks closely tells a browser's connection from this one.
package struct WebVerification: Sendable {
    private let origin: String
    private let server: WebServer
    private let bundle: WebBundle
    private let client: WebClientRequests
    private let shares: [String]

    /// The first thing that is not as the bundle has it.
    package struct Difference: Error, Sendable, CustomStringConvertible {
        /// The path that was asked for.
        package let path: String
        package let what: String

        package var description: String { "\(path): \(what)" }
    }

    /// What says where to go, keeps something in the browser, or lets a script do more.
    private static let foreign = [
        "set-cookie", "refresh", "location", "link", "service-worker-allowed", "sourcemap", "x-sourcemap",
        "access-control-allow-origin", "clear-site-data", "speculation-rules",
    ]

    /// - Parameters:
    ///   - origin: where the page is.
    ///   - server: whose shares it shows.
    ///   - shares: routing ids of shares whose page is asked for, besides those of none.
    package init(
        of origin: String, for server: WebServer = .here, shares: [String] = [], against bundle: WebBundle,
        by client: WebClientRequests
    ) {
        (self.origin, self.server, self.shares, self.bundle, self.client) = (origin, server, shares, bundle, client)
    }

    /// - Returns: how many files were compared.
    /// - Throws: `Difference`; what keeps the server from being asked.
    package func run() async throws -> Int {
        // Ids that nobody has given out, each asked for once.
        var random = SystemRandom()
        let unknown = (0..<2).map { _ in Base64URL.encode(ID16(random: &random).bytes) }
        for routing in shares + unknown { try await verifyPage(at: "/s/\(routing)") }
        for name in bundle.files.keys.sorted() {
            guard let file = bundle.files[name] else { continue }
            let path = "/w/\(bundle.hash.hex)/\(name)"
            // As browsers ask, which gives the smallest form; and each form by itself, as some proxies ask.
            try await verify(file, at: path, .brotli, for: Self.destination(of: name))
            for encoding in [nil, .gzip, .brotli] as [WebEncoding?] {
                try await verify(
                    file, at: path, encoding, for: Self.destination(of: name),
                    accepting: encoding?.rawValue ?? "identity")
            }
        }
        return bundle.files.count + 1
    }

    private func verifyPage(at path: String) async throws {
        let answer = try await client.get(origin + path, for: .document)
        if let encoding = answer.headers.first(name: "content-encoding") {
            throw Difference(
                path: path,
                what: "it comes by \(encoding), which the page never does: let no proxy compress what is below /s/")
        }
        try check(answer, at: path, type: WebPage.type, cached: WebPage.caching, encoding: nil)
        let shown = answer.body.readableBytesView
        let marked = bundle.page(of: server, apps: WebBundle.appsMark)
        guard let mark = marked.range(of: WebBundle.appsMark) else { throw Difference(path: path, what: "no page") }
        let (start, end) = (marked[..<mark.lowerBound].utf8, marked[mark.upperBound...].utf8)
        guard shown.count >= start.count + end.count, shown.starts(with: start),
            shown.suffix(end.count).elementsEqual(end)
        else {
            let other = String(decoding: shown, as: UTF8.self).firstMatch(of: #/\/w\/([0-9a-f]{64})\//#)?.output.1
            guard let other, other != bundle.hash.hex else {
                throw Difference(path: path, what: "the page is another one than the bundle's")
            }
            throw Difference(path: path, what: "the page is of web client \(other), not of \(bundle.hash.hex)")
        }
        // What the operator may set is a list of links, and nothing else.
        let apps = String(decoding: shown.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
        guard apps.isEmpty || SharePageController.isAppList(apps) else {
            throw Difference(path: path, what: "there is more than links to apps where those are")
        }
    }

    private static func destination(of name: String) -> WebClientRequests.Destination {
        switch name.split(separator: ".").last {
        case "css": .style
        case "svg": .image
        case "wasm": .empty
        default: name.hasSuffix(".worker.mjs") ? .worker : .script
        }
    }

    private func verify(
        _ file: WebBundle.File, at path: String, _ encoding: WebEncoding?,
        for destination: WebClientRequests.Destination, accepting accepted: String = WebClientRequests.allEncodings
    ) async throws {
        let answer = try await client.get(origin + path, for: destination, accepting: accepted)
        try check(
            answer, at: path, type: file.type, cached: WebBundle.File.caching, encoding: encoding?.rawValue)
        guard answer.body == file.body(encoding) else {
            throw Difference(path: path, what: "\(encoding?.rawValue ?? "the file") has other bytes than the bundle's")
        }
    }

    private func check(
        _ answer: WebClientRequests.Answer, at path: String, type: String, cached: String, encoding: String?
    ) throws(Difference) {
        if (300..<400).contains(answer.status), let place = answer.headers.first(name: "location") {
            throw Difference(path: path, what: "it sends browsers to \(place): verify the page there, with --server")
        }
        guard answer.status == 200 else { throw Difference(path: path, what: "it answers \(answer.status)") }
        var expected: [(name: String, value: String?)] = WebHeaders.all(server).map { ($0.name.rawName, $0.value) }
        expected += [("content-type", type), ("cache-control", cached), ("content-encoding", encoding)]
        for (name, value) in expected {
            let found = answer.headers[name]
            // Two texts are the same to Swift where they look alike, and to a browser where their bytes are.
            guard found.map({ Array($0.utf8) }) == (value.map { [Array($0.utf8)] } ?? []) else {
                let shown = found.isEmpty ? "missing" : "“\(found.joined(separator: ", "))”"
                let wanted = value.map { ", and not “\($0)”" } ?? ""
                throw Difference(path: path, what: "\(name) is \(shown)\(wanted)")
            }
        }
        for name in Self.foreign where !answer.headers[name].isEmpty {
            throw Difference(path: path, what: "it comes with \(name), which nothing of the web client has")
        }
    }
}
