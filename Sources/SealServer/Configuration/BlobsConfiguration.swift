import Foundation
import SealStorage

/// An S3 store for assets in the place of files in the data folder.
public struct BlobsConfiguration: Sendable {
    /// Who signs requests to the store.
    public enum Credentials: Sendable {
        /// A file as Amazon's tools have it, with `aws_access_key_id` and `aws_secret_access_key`. It is read again
        /// when the store does not let them in any more.
        case file(String)
        case keys(accessKey: String, secretKey: String, sessionToken: String?)
    }

    /// `s3://bucket/prefix?endpoint=https://host:port&region=name&addressing=path|host&ca=file`, without credentials.
    public var url: String
    public var credentials: Credentials

    public init(url: String, credentials: Credentials) { (self.url, self.credentials) = (url, credentials) }

    /// - Throws: `invalid`, which quotes nothing of the URL.
    func place() throws(ConfigurationError) -> S3Place {
        do throws(S3Place.Malformed) { return try S3Place(url) } catch {
            let expected =
                switch error {
                case .bucket: "a URL like s3://bucket/prefix"
                case .endpoint:
                    "a URL like s3://bucket?endpoint=https://s3.example.org, whose endpoint has no path and no user"
                case .region:
                    "a URL like s3://bucket?region=eu-central-1, whose region has small letters, digits and dashes"
                case .addressing: "a URL whose addressing is path, or host for a bucket without dots"
                case .parameter:
                    "a URL like s3://bucket/prefix?endpoint=https://s3.example.org, with nothing but endpoint, region, "
                        + "addressing and ca behind the question mark, each once"
                }
            throw .invalid(setting: "blobs", expected: expected)
        }
    }

    /// - Throws: `invalid`, or what is wrong with the file.
    func signer() throws(ConfigurationError) -> S3Credentials {
        switch credentials {
        case .keys(let accessKey, let secretKey, let sessionToken):
            guard
                let keys = S3Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)
            else {
                throw .invalid(
                    setting: "s3-credentials",
                    expected: "printable ASCII characters without spaces, where they come from the environment")
            }
            return keys
        case .file(let path):
            try ConfigurationError.requireFile("s3-credentials", path)
            guard let data = FileManager.default.contents(atPath: path),
                let keys = try? S3Credentials(file: String(decoding: data, as: UTF8.self))
            else {
                throw .invalid(
                    setting: "s3-credentials",
                    expected: "a file with the lines aws_access_key_id = … and aws_secret_access_key = …")
            }
            return keys
        }
    }
}

/// Without credentials, and the URL, which somebody may have put one into.
extension BlobsConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "BlobsConfiguration" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension BlobsConfiguration.Credentials: CustomStringConvertible, CustomReflectable {
    public var description: String { "BlobsConfiguration.Credentials" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
