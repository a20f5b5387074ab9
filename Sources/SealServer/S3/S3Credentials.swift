import Crypto
import Foundation

/// Who signs requests to an S3 store. Neither its description nor its mirror has anything of the secret.
package struct S3Credentials: Sendable, Equatable {
    package let accessKey: String
    /// `AWS4` and the secret key, as the first step of each signature has them.
    let secret: SymmetricKey
    /// Of credentials that end by themselves; nil for lasting ones.
    let sessionToken: String?

    /// Nil where one of them has what no header can carry, or is empty.
    package init?(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        guard Self.isPlain(accessKey), Self.isPlain(secretKey), sessionToken.map(Self.isPlain) != false else {
            return nil
        }
        self.accessKey = accessKey
        secret = SymmetricKey(data: Data(("AWS4" + secretKey).utf8))
        self.sessionToken = sessionToken
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension S3Credentials {
    /// Why a file has none.
    package struct Malformed: Error {}

    /// Those in a file as Amazon's tools have it: `aws_access_key_id = …`, `aws_secret_access_key = …` and, for such as
    /// end by themselves, `aws_session_token = …`; of several profiles the one called `default`.
    /// - Throws: `Malformed`, which quotes nothing.
    package init(file text: String) throws(Malformed) {
        var (profile, given) = ("default", [String: String]())
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                profile = line.dropFirst().dropLast().trimmingCharacters(in: .whitespaces)
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Malformed() }
            guard profile == "default" else { continue }
            given[parts[0].trimmingCharacters(in: .whitespaces)] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        guard let accessKey = given["aws_access_key_id"], let secretKey = given["aws_secret_access_key"],
            let credentials = S3Credentials(
                accessKey: accessKey, secretKey: secretKey, sessionToken: given["aws_session_token"])
        else { throw Malformed() }
        self = credentials
    }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "S3Credentials" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
