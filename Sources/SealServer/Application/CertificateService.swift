import Logging
import ServiceLifecycle

/// Looks every minute whether the certificate was renewed.
struct CertificateService: Service {
    let certificate: ServerCertificate
    let interval: Duration
    let logger: Logger

    static let defaultInterval: Duration = .seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                certificate.renew(logger: logger)
            }
        }
    }
}
