import Foundation
import SealEnvelope
import SealPrimitives
import SealWire
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What errors say, written out: names, and nothing that came from data.
@Suite(.timeLimit(.minutes(60))) struct ErrorTests {
    static let core: [SealError] = [
        .malformed, .invalidLength, .invalidName, .unsupported, .authenticationFailed, .invalidKey, .invalidSignature,
        .weakParameters, .outOfMemory, .invalidProof, .fieldMismatch, .wrongContext, .staleEpoch, .authorNotPermitted,
        .unknownRosterHead, .notSuccessor, .invalidNotice, .notNextEntry, .changeNotPermitted, .changeNotApplicable,
        .epochRequired, .renewalRequired, .coverageMismatch,
        .invalidIdentity, .tooManyParticipants, .keyMismatch, .missingKey, .invalidURL, .mistypedRecoveryKey,
    ]

    @Test func `An error of the core is a name without data, and all are here`() throws {
        let files = try SecretTypes.swiftFiles(in: ["SealPrimitives"])
        let text = try #require(files.first { $0.name.hasSuffix("/SealError.swift") }).text
        let declared = text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("case ") }
        #expect(declared.map { String($0.dropFirst(5)) } == ErrorTests.core.map { "\($0)" })
        for error in ErrorTests.core {
            #expect(String(reflecting: error) == "SealPrimitives.SealError.\(error)")
            var dumped = ""
            dump(error, to: &dumped)
            #expect(dumped == "- SealPrimitives.SealError.\(error)\n")
        }
    }

    @Test func `What the core refuses becomes one of four texts`() {
        for error in ErrorTests.core {
            let text = "\(SealKitError.integrity(error, "the thing"))"
            switch error {
            case .tooManyParticipants:
                #expect(
                    text == "tooManyParticipants: the thing would have more than 100 participants (remove some first)")
            case .invalidURL:
                #expect(
                    text == "invalidArguments: the share URL is cut short, altered, or belongs to another share "
                        + "(copy the whole URL, with everything after the #)")
            case .unsupported:
                #expect(
                    text
                        == "incompatibleVersion: the thing holds something that this version does not read (update SealKit)"
                )
            default:
                #expect(
                    text == "integrityFailure: the thing does not verify (\(error)); nothing of it was opened "
                        + "(the server or somebody with access to it altered data; compare with the owner before trusting it)"
                )
            }
        }
    }

    @Test func `Every code prints as its name, the reason and the remedy`() {
        for code in ErrorCode.allCases {
            let known = SealKitError.Code(rawValue: code.rawValue)
            #expect("\(known)" == code.rawValue)
            #expect(code.rawValue.first { !$0.isLetter } == nil)
            #expect("\(SealKitError(known, "reason"))" == "\(code.rawValue): reason")
            #expect("\(SealKitError(known, "reason", remedy: "remedy"))" == "\(code.rawValue): reason (remedy)")
        }
    }

    @Test func `A wrong secret is not repeated in the error that it causes`() throws {
        var random = SystemRandom()
        let url = "https://a/s/\(Base64URL.encode(random.bytes(16)))#canary\(Base64URL.encode(random.bytes(40)))"
        let recovery = String(repeating: "CANARY", count: 9)
        var texts: [String] = []
        for attempt in [
            { _ = try verifying("the URL") { () throws(SealError) in try ShareURL(url) } },
            { _ = try verifying("the recovery key") { () throws(SealError) in try RecoveryKey(text: recovery) } },
            { _ = try HTTPTransport(server: "https://user:canary@example.org") },
            { _ = try Base64URL.decodeSecret("canary!") },
        ] as [() throws -> Void] {
            do {
                try attempt()
                Issue.record("nothing was thrown")
            } catch {
                texts.append("\(error) \(String(reflecting: error)) \(error.localizedDescription)")
            }
        }
        #expect(texts.count == 4)
        for text in texts { #expect(!text.lowercased().contains("canary"), "\(text)") }
    }

    private struct Canary: Error, CustomStringConvertible { let description = "canary" }

    @Test func `A client hears nothing of an error that the server did not expect`() {
        let unexpected: [any Error] = [
            Canary(), StorageError.failed(code: 1, message: "canary"),
            FileError(path: "canary", action: "open", code: 1),
        ]
        for error in unexpected {
            let (answer, isInternal) = ServerError.describing(error, requestID: "7")
            #expect(isInternal)
            #expect(answer.code == .internalError)
            #expect(answer.reason == "The server failed. Its log has the details under request 7.")
            #expect(!answer.remedy.contains("canary"))
        }
    }
}
