import Foundation
import SealLab

/// What an S3 store has, by curl and not by the server's own code.
struct Bucket {
    private let address: String
    private let credentials: String

    init(of store: S3Process) throws {
        guard let url = URLComponents(string: store.url), let name = url.host,
            let endpoint = url.queryItems?.first(where: { $0.name == "endpoint" })?.value
        else { throw Finding("\(store.url) names no bucket") }
        address = "\(endpoint)/\(name)"
        let lines = try String(contentsOfFile: store.credentialsFile, encoding: .utf8).split(separator: "\n")
        func value(_ name: String) throws -> String {
            guard let line = lines.first(where: { $0.hasPrefix("\(name) = ") }) else {
                throw Finding("\(store.credentialsFile) has no \(name)")
            }
            return String(line.dropFirst(name.count + 3))
        }
        credentials = try value("aws_access_key_id") + ":" + value("aws_secret_access_key")
    }

    /// The bytes of all objects, by their keys.
    func sizes() async throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        var last = ""
        while true {
            let start = last.isEmpty ? "" : "&start-after=\(last.replacing("/", with: "%2F"))"
            let said = try await Command.finished(
                URL(fileURLWithPath: "/usr/bin/curl"),
                [
                    "--silent", "--show-error", "--fail", "--max-time", "60", "--aws-sigv4", "aws:amz:us-east-1:s3",
                    "--user", credentials, "\(address)?list-type=2&max-keys=1000\(start)",
                ])
            try check(said.status == 0, "curl: \(said.errors.prefix(500))")
            for object in said.output.components(separatedBy: "<Contents>").dropFirst() {
                guard let key = Self.text("Key", in: object),
                    let size = Self.text("Size", in: object).flatMap({ Int($0) })
                else { throw Finding("the store lists an object without its key or size") }
                sizes[key] = size
                last = key
            }
            guard said.output.contains("<IsTruncated>true</IsTruncated>") else { return sizes }
        }
    }

    private static func text(_ element: String, in xml: String) -> String? {
        guard let start = xml.range(of: "<\(element)>"), let end = xml.range(of: "</\(element)>") else { return nil }
        return String(xml[start.upperBound..<end.lowerBound])
    }
}
