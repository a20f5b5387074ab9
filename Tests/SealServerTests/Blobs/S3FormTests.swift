import Foundation
import Testing

@testable import SealServer
@testable import SealStorage

/// What goes to an S3 store and what comes from it, as text: signatures, XML, URLs and credentials.
@Suite(.timeLimit(.minutes(60))) struct S3FormTests {
    // MARK: Signatures

    /// The examples of “Authenticating Requests: Using the Authorization Header”, in Amazon's API reference for S3.
    @Test func signaturesAreThoseOfAmazonsExamples() throws {
        let credentials = try #require(
            S3Credentials(
                accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
        let signature = S3Signature(credentials, region: "us-east-1", time: Date(timeIntervalSince1970: 1_369_353_600))
        #expect(signature.time == "20130524T000000Z")
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let content = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
        func authorization(
            _ method: String, _ path: String, _ query: [(String, String)] = [], _ headers: [(String, String)] = [],
            _ payload: String
        ) -> String {
            signature.authorization(
                method: method, path: path, query: query.map { ($0.0, $0.1) },
                headers: headers + [
                    ("Host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", payload),
                    ("x-amz-date", signature.time),
                ], payload: payload)
        }
        let scope = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders="
        let always = "host;x-amz-content-sha256;x-amz-date"
        #expect(
            authorization("GET", "/test.txt", [], [("Range", "bytes=0-9")], nothing) == scope
                + "host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            authorization(
                "PUT", "/" + S3Signature.encoded("test$file.text"), [],
                [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")], content)
                == scope + "date;\(always);x-amz-storage-class,"
                + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        #expect(
            authorization("GET", "/", [("lifecycle", "")], [], nothing) == scope + always
                + ",Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            authorization("GET", "/", [("prefix", "J"), ("max-keys", "2")], [], nothing) == scope + always
                + ",Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    // MARK: XML

    @Test func documentsAreRead() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <a:List xmlns:a="http://x/>" note='>'>
              <Key>a&amp;&#98;&#x63;&lt;&quot;</Key><Empty/><Empty></Empty>
              <Part><Number>1</Number></Part><Part><Number>2</Number></Part>
            </a:List>

            """
        let root = try S3Document(text.utf8).root
        #expect(root.name == "List" && root["Key"] == "a&bc<\"" && root["Empty"] == "" && root["Other"] == nil)
        #expect(root.all("Part").map { $0["Number"] } == ["1", "2"])
    }

    @Test func whatIsNoDocumentIsRefused() {
        let deep = String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17)
        for text in [
            "", " ", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>text", "text<a/>", "<a>&b;</a>", "<a>&amp</a>",
            "<a>&#+5;</a>", "<a>&#x+5;</a>", "<a>&#;</a>", "<a>&#1f;</a>",
            "<a>&#xD800;</a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a", "<a b=\">", "<>", "< a/>", deep,
        ] {
            #expect(throws: S3Document.Malformed.self) { try S3Document(text.utf8) }
        }
    }

    // MARK: URLs

    @Test func placesAreWhereTheirURLSays() throws {
        let amazon = try S3Place("s3://notes/assets/")
        #expect(amazon.host == "notes.s3.us-east-1.amazonaws.com" && amazon.scheme == "https" && amazon.root == "/")
        #expect(amazon.prefix == "assets/" && amazon.name == "s3://notes/assets" && amazon.isEncrypted)
        let own = try S3Place("s3://notes?endpoint=https%3A%2F%2FS3.example.org:9000/&region=de&ca=/etc/a%20b.pem")
        #expect(own.host == "s3.example.org:9000" && own.endpointHost == "s3.example.org" && own.root == "/notes/")
        #expect(
            own.region == "de" && own.prefix == "" && own.name == "s3://notes" && own.authorityFile == "/etc/a b.pem")
        let host = try S3Place("s3://notes/a/b?addressing=host&endpoint=http://127.0.0.1:80")
        let dotted = try S3Place("s3://my.notes")
        #expect(dotted.host == "s3.us-east-1.amazonaws.com" && dotted.root == "/my.notes/")
        #expect(host.host == "notes.127.0.0.1" && host.root == "/" && host.prefix == "a/b/" && !host.isEncrypted)
    }

    @Test func whatIsNoPlaceIsRefused() {
        func check(_ urls: [String], _ error: S3Place.Malformed) {
            for url in urls { #expect(throws: error) { try S3Place(url) } }
        }
        check(
            [
                "", "notes", "https://notes", "s3:/notes", "s3://", "s3://no", "s3://Notes", "s3://-notes",
                "s3://notes.",
                "s3://no_tes", "s3://user:word@notes", "s3://notes/a//b", "s3://notes/../b", "s3://notes/a b",
                "s3://notes/a%20b", "s3://notes/é",
            ], .bucket)
        check(
            ["ftp://a", "a", "https://", "https://u:p@a", "https://a/b", "https://a?b", "https://a%25"].map {
                "s3://notes?endpoint=\($0)"
            }, .endpoint)
        check(["s3://notes?region=EU", "s3://notes?region=a.b"], .region)
        check(["s3://notes?addressing=both", "s3://my.notes?addressing=host"], .addressing)
        check(
            [
                "s3://notes?key=1", "s3://notes?region", "s3://notes?region=",
                "s3://notes?region=a&region=b",
                "s3://notes?region=%ZZ", "s3://notes?secret=x",
            ], .parameter)
    }

    // MARK: Credentials

    @Test func credentialsAreReadFromAFile() throws {
        let text = """
            # of the server
            [other]
            aws_access_key_id = o
            aws_secret_access_key = o

            [ default ]
            aws_access_key_id=key
            aws_secret_access_key = a/b+c=
            aws_session_token = t
            region = nowhere
            """
        let credentials = try S3Credentials(file: text)
        #expect(credentials == S3Credentials(accessKey: "key", secretKey: "a/b+c=", sessionToken: "t"))
        #expect(try S3Credentials(file: "aws_access_key_id = k\naws_secret_access_key = s").sessionToken == nil)
        for text in [
            "", "key:secret", "aws_access_key_id = k", "[a]\naws_access_key_id=k\naws_secret_access_key=s",
            "aws_access_key_id = k k\naws_secret_access_key = s", "aws_access_key_id = k\naws_secret_access_key =",
        ] {
            #expect(throws: S3Credentials.Malformed.self) { try S3Credentials(file: text) }
        }
    }

    @Test func nothingShowsCredentials() throws {
        let credentials = try #require(S3Credentials(accessKey: "key", secretKey: "qqqqq", sessionToken: "wwwww"))
        let configuration = BlobsConfiguration(
            url: "s3://eeeee", credentials: .keys(accessKey: "rrrrr", secretKey: "qqqqq", sessionToken: "wwwww"))
        var texts = [
            "\(credentials)", String(reflecting: credentials), "\(configuration)", "\(configuration.credentials)",
        ]
        dump(credentials, to: &texts[0])
        dump(configuration, to: &texts[1])
        for text in texts { for secret in ["qqqqq", "wwwww", "eeeee", "rrrrr"] { #expect(!text.contains(secret)) } }
    }

    @Test func theSettingsOfAStoreAreHeldAgainstEachOther() async throws {
        func load(_ flags: [String: String], _ environment: [String: String] = [:]) async throws -> ServerConfiguration
        {
            try await ServerConfiguration.load(
                flags: ["data": "/d"].merging(flags) { $1 }, environment: environment)
        }
        let keys = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"]
        let made = try await load(["blobs": "s3://notes"], keys)
        #expect(try made.blobs?.signer() == S3Credentials(accessKey: "key", secretKey: "secret"))
        #expect(made.garbageGraceDays == 7)
        #expect(try await load([:]).garbageGraceDays == 0)
        #expect(try await load(["garbage-grace": "3"]).garbageGraceDays == 3)
        #expect(try await load(["database-url": "postgresql://u@localhost/d"]).garbageGraceDays == 7)
        func refused(
            _ error: ConfigurationError, _ flags: [String: String], _ environment: [String: String] = [:]
        ) async {
            await #expect(throws: error) { try await load(flags, environment) }
        }
        await refused(.missingCredentials, ["blobs": "s3://notes"])
        await refused(.missingCredentials, ["blobs": "s3://notes"], ["AWS_ACCESS_KEY_ID": "key"])
        await refused(.missing(setting: "blobs"), ["s3-credentials": "/f"])
        await refused(
            .unprotectedBlobs(host: "s3.example.org"), ["blobs": "s3://notes?endpoint=http://s3.example.org"], keys)
        await refused(
            .invalid(setting: "max-asset-size", expected: "at most \(S3BlobStore.mostBytes) bytes with an S3 store"),
            ["blobs": "s3://notes", "max-asset-size": "\(1 << 40)"], keys)
        await refused(
            .invalid(setting: "garbage-grace", expected: "a number of days, from 0 to 3650"), ["garbage-grace": "-1"])
        let error = await #expect(throws: ConfigurationError.self) {
            try await load(["blobs": "s3://u:qqqqq@notes"], keys)
        }
        #expect(!"\(String(describing: error))".contains("qqqqq"))
        let folder = TemporaryFolder()
        try "aws_access_key_id = qqqqq".write(toFile: folder.file("c"), atomically: true, encoding: .utf8)
        let named = try await load(["blobs": "s3://notes", "s3-credentials": folder.file("c")])
        let wrong = #expect(throws: ConfigurationError.self) { try named.checkFiles() }
        #expect("\(String(describing: wrong))".contains("aws_secret_access_key"))
        #expect(!"\(String(describing: wrong))".contains("qqqqq"))
        let missing = try await load(["blobs": "s3://notes?ca=/not/there.pem", "s3-credentials": "/not/there"])
        #expect(throws: ConfigurationError.missingFile(setting: "blobs", path: "/not/there.pem")) {
            try missing.checkFiles()
        }
    }
}
