import Foundation
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService

/// The server's operator, on the operator's listener.
struct OperatorClient: Sendable {
    let server: RunningServer
    var token: String

    /// With the token that lies in the secrets folder.
    init(_ server: RunningServer) throws {
        self.server = server
        let file = server.folder.file("data.secrets/" + OperatorToken.fileName)
        token = String(try String(contentsOfFile: file, encoding: .utf8).dropLast())
    }

    func call<Request: Message, Answer: Message>(
        _ endpoint: Endpoint<OnOperatorListener, Request, Answer>, _ request: Request
    ) async throws -> Answer {
        let client = RefusalClient(origin: server.operatorListener, token: token)
        let answer = try await client.send(
            "POST", endpoint.route.template, type: RefusalClient.protobuf,
            bytes: try request.serializedBytes() as [UInt8])
        guard answer.status == 200 else {
            let failure = try Sealkit_V1_Failure(serializedBytes: answer.body)
            throw Refusal(status: answer.status, failure: failure)
        }
        return try Answer(serializedBytes: answer.body)
    }

    func accounts(
        _ find: String = "", suspendedOnly: Bool = false, after cursor: Data = Data(), limit: UInt32 = 0
    ) async throws -> Sealkit_V1_ListAccountsResponse {
        try await call(
            Endpoints.operator.accounts,
            .with {
                ($0.find, $0.suspendedOnly, $0.cursor, $0.limit) = (find, suspendedOnly, cursor, limit)
            })
    }

    func usage(_ account: String = "") async throws -> Sealkit_V1_ServerUsageResponse {
        try await call(Endpoints.operator.usage, .with { $0.account = account })
    }

    /// Of the last hour.
    func telemetry(
        by dimension: String = "", kind: String = "", step: UInt32 = 0, limit: UInt32 = 1_000,
        filters: [String: String] = [:]
    ) async throws -> Sealkit_V1_TelemetryResponse {
        try await call(
            Endpoints.operator.telemetry,
            .with {
                $0.from = server.clock.now / 1_000_000 - 3_600
                ($0.step, $0.kind, $0.by, $0.limit) = (step, kind, dimension, limit)
                $0.filters = filters.map { name, word in .with { ($0.dimension, $0.word) = (name, word) } }
            })
    }

    func logs(
        _ change: (inout Sealkit_V1_LogRequest) -> Void = { _ in }
    ) async throws -> Sealkit_V1_LogResponse {
        var message = Sealkit_V1_LogRequest.with { $0.limit = 1_000 }
        change(&message)
        return try await call(Endpoints.monitoring.logs, message)
    }

    func events(
        _ change: (inout Sealkit_V1_ListEventsRequest) -> Void = { _ in }
    ) async throws -> Sealkit_V1_ListEventsResponse {
        var message = Sealkit_V1_ListEventsRequest.with { $0.limit = 1_000 }
        change(&message)
        return try await call(Endpoints.monitoring.events, message)
    }

    @discardableResult
    func setQuota(
        _ account: String, _ quota: Sealkit_V1_SetQuotaRequest.OneOf_Quota?
    ) async throws -> Sealkit_V1_OperatedAccount {
        try await call(Endpoints.operator.quota, .with { ($0.account, $0.quota) = (account, quota) }).account
    }

    @discardableResult
    func suspend(_ account: String, reason: String = "") async throws -> Sealkit_V1_OperatedAccount {
        try await call(Endpoints.operator.suspend, .with { ($0.account, $0.reason) = (account, reason) }).account
    }

    @discardableResult
    func unsuspend(_ account: String) async throws -> Sealkit_V1_OperatedAccount {
        try await call(Endpoints.operator.unsuspend, .with { $0.account = account }).account
    }
}
