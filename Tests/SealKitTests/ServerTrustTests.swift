import Foundation
import SealLab
import Testing

@testable import SealKit

/// What answers at an address, and is not the server that was meant: that is said at once, with what to do, and never
/// tried again.
@Suite(.timeLimit(.minutes(60))) struct ServerTrustTests {
    /// The error of a call that would otherwise wait for its server for a week.
    private func refusal(_ server: String, authority: String? = nil) async throws -> SealKitError? {
        let transport = try HTTPTransport(server: server, configuration: .init(certificateAuthorityFile: authority))
        let pacing = FakePacing()
        let person = try await Person().through(transport, pacing: pacing.pacing)
        let patient = OperationConfiguration(qualityOfService: .utility)
        do {
            _ = try await person.own.configuredWith(configuration: patient) { try await $0.allRecordZones() }
            return nil
        } catch {
            #expect(pacing.sleeps.isEmpty, "\(error)")
            return error as? SealKitError
        }
    }

    // MARK: Certificates

    @Test func anAuthorityThatNobodyKnowsIsNotTrustedUntilItIsNamed() async throws {
        let server = try await TLSServer()
        let unknown = try await refusal(server.origin)
        #expect(unknown?.code == .serverNotTrusted, "\(String(describing: unknown))")
        #expect(unknown?.reason.contains("nobody whom this device trusts") == true, "\(String(describing: unknown))")
        #expect(unknown?.remedy.contains("certificateAuthorityFile") == true)
        #expect(unknown?.retryAfter == nil)
        // Then it is what it is: no SealKit server.
        let known = try await refusal(server.origin, authority: server.authority)
        #expect(known?.code == .serverRejectedRequest, "\(String(describing: known))")
        #expect(known?.reason.contains("404") == true, "\(String(describing: known))")
    }

    @Test func anotherNameAndAnotherTimeAreTold() async throws {
        let other = try await TLSServer(name: "DNS:notes.example.org")
        let misnamed = try await refusal(other.origin, authority: other.authority)
        #expect(misnamed?.code == .serverNotTrusted, "\(String(describing: misnamed))")
        #expect(
            misnamed?.reason.contains("for another name than the address has (notes.example.org)") == true,
            "\(String(describing: misnamed))")
        let old = try await TLSServer(days: -1)
        let expired = try await refusal(old.origin, authority: old.authority)
        #expect(expired?.code == .serverNotTrusted, "\(String(describing: expired))")
        #expect(expired?.reason.contains("has expired on 20") == true, "\(String(describing: expired))")
    }

    /// Servers go on showing old certificates above their own; they are no reason.
    @Test func theServersOwnCertificateDecidesWhatIsSaid() async throws {
        let old = try await TLSServer(days: -1)
        let expired = try #require(await TLSProbe.certificates(of: old.origin)?.first)
        let good = try #require(HTTPTransport.authorities(in: old.authority).first)
        let above = HTTPTransport.untrusted([good, expired], isAuthorityNamed: false)
        #expect(
            above.reason.contains(
                "nobody whom this device trusts; of those that it shows above it, one has expired on 20"), "\(above)")
        #expect(
            HTTPTransport.untrusted([expired, good], isAuthorityNamed: false).reason.contains(
                "the server's certificate has expired on 20"))
        #expect(HTTPTransport.untrusted([good, good], isAuthorityNamed: false).reason.contains("above it") == false)
        #expect(HTTPTransport.untrusted([], isAuthorityNamed: false).reason.contains("nobody whom this device trusts"))
        let wrongFile = HTTPTransport.untrusted([good], isAuthorityNamed: true)
        #expect(wrongFile.remedy.contains("none of its authorities has signed it"), "\(wrongFile)")
    }

    /// Of no single record or zone: each of them would say the same.
    @Test func whatIsNotTrustedIsToldOfTheWholeRequest() async throws {
        let server = try await TLSServer()
        let person = try await Person().through(try HTTPTransport(server: server.origin))
        let record = person.note(in: .default, "x")
        #expect(await failure { _ = try await person.own.records(for: [record.recordID]) } == .serverNotTrusted)
        #expect(await failure { _ = try await person.own.modifyRecords(saving: [record]) } == .serverNotTrusted)
    }

    @Test func aFileWithoutAnAuthorityIsRefusedBeforeAnythingIsAsked() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("notes.txt")
        for text in [nil, "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            if let text { try Data(text.utf8).write(to: file) }
            let error = #expect(throws: SealKitError.self) {
                try HTTPTransport(
                    server: "https://localhost", configuration: .init(certificateAuthorityFile: file.path))
            }
            #expect(error?.code == .invalidArguments)
            #expect(error?.reason.contains(file.path) == true)
        }
    }

    // MARK: Other protocols

    @Test func plainHTTPToATLSPortIsTold() async throws {
        let server = try await TLSServer()
        let error = try await refusal("http://127.0.0.1:\(server.port)")
        #expect(error?.code == .serverNotTrusted, "\(String(describing: error))")
        #expect(error?.remedy.contains("https://") == true, "\(String(describing: error))")
    }

    @Test func aPortWithoutTLSAndOneWithoutHTTPAreTold() async throws {
        let plain = try ServerProcess.shared.get().port
        let untouched = try await refusal("https://127.0.0.1:\(plain)")
        #expect(untouched?.code == .serverNotTrusted, "\(String(describing: untouched))")
        #expect(untouched?.reason.contains("no TLS") == true, "\(String(describing: untouched))")
        let mail = try SilentServer(saying: "220 mail.example.org ESMTP\r\n")
        let greeted = try await refusal(mail.origin)
        #expect(greeted?.code == .serverNotTrusted, "\(String(describing: greeted))")
        #expect(greeted?.reason.contains("no HTTP") == true, "\(String(describing: greeted))")
    }

    /// The request was there by then: what it asked for may have been done.
    @Test func aConnectionThatIsCutAfterTheRequestHasLostAnAnswer() async throws {
        let server = try await TLSServer(isCut: true)
        let transport = try HTTPTransport(
            server: server.origin, configuration: .init(certificateAuthorityFile: server.authority))
        let code = await failure { _ = try await transport.post("/", body: Data([1]), token: nil) }
        #expect(code == .serverResponseLost)
    }

    @Test(
        "A server answers over HTTP/2 with a status that is none: an error of the exchange, and the app's process goes on."
    )
    func attack104_statusThatIsNone() async throws {
        for status in ["-5", "99999999999999999999", "1000", "99", "2xx", "+20", ""] {
            let server = try await TLSServer(status: status)
            let transport = try HTTPTransport(
                server: server.origin, configuration: .init(certificateAuthorityFile: server.authority))
            await expectRefused(.serverResponseLost, "\(status)") {
                _ = try await transport.post("/", body: Data([1]), token: nil)
            }
            await expectRefused(.serverResponseLost, "\(status)") {
                try await transport.events("/", token: "t", lastEventID: nil) { _ in }
            }
        }
        // What is one is taken, so that it was HTTP/2 that spoke.
        let server = try await TLSServer(status: "418")
        let transport = try HTTPTransport(
            server: server.origin, configuration: .init(certificateAuthorityFile: server.authority))
        #expect(try await transport.get("/", token: nil).status == 418)
    }

    // MARK: The command line

    @Test func commandsSayItAndTakeTheAuthority() async throws {
        let server = try await TLSServer()
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("ann.json").path
        func create(_ server: String, _ arguments: String..., environment: [String: String] = [:]) async throws
            -> Command
        {
            try await Command.finished(
                ServerProcess.executable, ["account", "create", "--server", server, "--key-file", keyFile] + arguments,
                environment: ["SEALKIT_CA_FILE": ""].merging(environment) { $1 })
        }
        let unknown = try await create(server.origin)
        #expect(unknown.status == 69, "\(unknown.errors)")
        #expect(unknown.errors.contains("--ca-file"), "\(unknown.errors)")
        #expect(unknown.errors.contains("[serverNotTrusted]"), "\(unknown.errors)")
        for known in await [
            try create(server.origin, "--ca-file", server.authority),
            try create(server.origin, environment: ["SEALKIT_CA_FILE": server.authority]),
        ] {
            #expect(known.status == 70, "\(known.errors)")
            #expect(known.errors.contains("404"), "\(known.errors)")
        }
        let missing = try await create(server.origin, "--ca-file", keyFile)
        #expect(missing.status == 65, "\(missing.errors)")
        #expect(missing.errors.contains(keyFile), "\(missing.errors)")
        let plain = try await create("http://127.0.0.1:\(server.port)")
        #expect(plain.status == 69, "\(plain.errors)")
        #expect(plain.errors.contains("https://"), "\(plain.errors)")
        #expect(!FileManager.default.fileExists(atPath: keyFile))
    }
}
