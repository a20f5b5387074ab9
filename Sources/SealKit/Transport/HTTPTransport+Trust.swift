import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import SealCoding
import Synchronization

/// What answers at the address, and is not the server that was asked for: that does not pass, so it is told at once.
extension HTTPTransport {
    /// - Returns: nil for what may pass.
    func wrongServer(_ error: any Error) async -> SealKitError? {
        switch error {
        case let error as NIOSSLExtraError
        where error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch:
            let names = await TLSProbe.certificates(of: origin)?.first.map(HTTPTransport.names) ?? ""
            return .serverNotTrusted(
                "the server's certificate is for another name than the address has\(names)",
                remedy: "use the name that the certificate has, or get one for this address")
        case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
            return .serverNotTrusted("the server shows no certificate that can be checked", remedy: "check the address")
        case NIOSSLError.handshakeFailed(let cause):
            if HTTPTransport.isUntrusted(cause) {
                return HTTPTransport.untrusted(
                    await TLSProbe.certificates(of: origin) ?? [], isAuthorityNamed: isAuthorityNamed)
            }
            guard !hasAnswered.load(ordering: .relaxed), HTTPTransport.isWithoutTLS(cause) else { return nil }
            return .wrongAddress(
                "what answers at the address speaks no TLS",
                remedy: "check the port; plain http:// is for a server on this machine only")
        case is HTTPParserError where !hasAnswered.load(ordering: .relaxed):
            return .wrongAddress(
                "what answers at the address speaks no HTTP",
                remedy: "check the port, and that it is a SealKit server's")
        default:
            guard !hasAnswered.load(ordering: .relaxed), origin.hasPrefix("http://"), HTTPTransport.isBroken(error),
                await TLSProbe.certificates(of: origin) != nil
            else { return nil }
            return .wrongAddress(
                "what answers at the address speaks TLS, and http:// does not", remedy: "write https:// in its place")
        }
    }

    /// Which of the reasons there are for not trusting a certificate, as far as the certificates themselves tell.
    /// - Parameters:
    ///   - certificates: as the server shows them, its own first. One above it says little: servers go on showing old
    ///     ones beside those that count.
    ///   - isAuthorityNamed: a file of authorities was given, and it is not among them.
    static func untrusted(_ certificates: [NIOSSLCertificate], isAuthorityNamed: Bool) -> SealKitError {
        let now = Date().timeIntervalSince1970
        if let own = certificates.first {
            if Double(own.notValidAfter) < now {
                return .serverNotTrusted(
                    "the server's certificate has expired on \(HTTPTransport.day(own.notValidAfter))",
                    remedy: "have its operator renew it, and check this device's clock")
            }
            if Double(own.notValidBefore) > now {
                return .serverNotTrusted(
                    "the server's certificate is good from \(HTTPTransport.day(own.notValidBefore)) on only",
                    remedy: "check this device's clock")
            }
        }
        let expired = certificates.dropFirst().first { Double($0.notValidAfter) < now }
        let beside =
            expired.map {
                "; of those that it shows above it, one has expired on \(HTTPTransport.day($0.notValidAfter))"
            } ?? ""
        return .serverNotTrusted(
            "the server's certificate was signed by nobody whom this device trusts\(beside)",
            remedy: isAuthorityNamed
                ? "check the address, and the file that was named as the transport's certificateAuthorityFile: none of its authorities has signed it"
                : "check the address; if you know the authority, name its PEM file as the transport's certificateAuthorityFile"
        )
    }

    /// Whom a certificate is for. Whoever answers has written it: what no name has stays out, and no more than a few
    /// are told.
    private static func names(_ certificate: NIOSSLCertificate) -> String {
        let names = certificate._subjectAlternativeNames().lazy.filter { $0.nameType == .dnsName }
            .map { String(decoding: $0.contents, as: UTF8.self) }
            .filter { name in
                name.utf8.count < 254
                    && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.*".contains($0)) }
            }
        let few = Array(names.prefix(4))
        return few.isEmpty ? "" : " (\(few.joined(separator: ", ")))"
    }

    private static func day(_ time: time_t) -> String {
        String(DateText.text(Date(timeIntervalSince1970: Double(time))).prefix(10))
    }

    /// - Throws: `invalidArguments` where the file cannot be read, or has no certificate.
    static func authorities(in file: String) throws(SealKitError) -> [NIOSSLCertificate] {
        do { return try NIOSSLCertificate.fromPEMFile(file) } catch {
            throw SealKitError(
                .invalidArguments, "there is no certificate of an authority to read in \(file)",
                remedy: "name a PEM file, which begins with -----BEGIN CERTIFICATE-----")
        }
    }

    // MARK: What the TLS library says

    /// Its words are all that it has for the reason.
    private static func says(_ error: BoringSSLError, _ words: [String]) -> Bool {
        guard case .sslError(let stack) = error else { return false }
        return stack.contains { entry in words.contains { entry.description.contains($0) } }
    }

    private static func isUntrusted(_ error: BoringSSLError) -> Bool { says(error, ["CERTIFICATE_VERIFY_FAILED"]) }

    private static func isWithoutTLS(_ error: BoringSSLError) -> Bool {
        says(
            error,
            ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "UNEXPECTED_MESSAGE", "UNEXPECTED_RECORD"])
    }
}

extension SealKitError {
    fileprivate static func serverNotTrusted(_ reason: String, remedy: String) -> SealKitError {
        SealKitError(.serverNotTrusted, "\(reason); nothing was sent", remedy: remedy)
    }

    fileprivate static func wrongAddress(_ reason: String, remedy: String) -> SealKitError {
        SealKitError(.serverNotTrusted, reason, remedy: remedy)
    }
}
