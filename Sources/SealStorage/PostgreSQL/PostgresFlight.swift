import CPQ

/// Statements that go to the server one after the other, without a wait for the answer of each (libpq's pipeline mode).
/// Where one of them fails those after it are not run, and the connection is as after any statement that failed.
struct PostgresFlight {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) { self.connection = connection }

    /// Whether something that was sent has no answer yet. After `run` that means for ever: the connection is good for
    /// nothing more.
    var isUnderWay: Bool { PQpipelineStatus(connection) != PQ_PIPELINE_OFF }

    /// Of one statement: its rows, or some of them.
    struct Answer {
        let statement: Int
        let result: OpaquePointer
    }

    /// - Returns: the answers in the statements' order, whose results the caller clears.
    func run(
        _ statements: [PostgresStatements.Prepared], _ values: [PostgresValues]
    ) throws(PostgresError) -> [Answer] {
        guard PQenterPipelineMode(connection) == 1 else { throw .failed(.init(nil, of: connection)) }
        var failure = send(statements, values)
        // Without its end what was sent may not be answered at all.
        guard PQpipelineSync(connection) == 1 else { throw .failed(failure ?? .init(nil, of: connection)) }
        var answers: [Answer] = []
        answers.reserveCapacity(statements.count)
        var done = 0
        // Each one's answer has an end of its own, and so has the whole.
        for statement in 0...statements.count {
            while let result = PQgetResult(connection) {
                switch PQresultStatus(result) {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                    done += 1
                    answers.append(Answer(statement: statement, result: result))
                    continue
                // The first of a flight is read as the statement before it was: row by row.
                case PGRES_SINGLE_TUPLE:
                    answers.append(Answer(statement: statement, result: result))
                    continue
                case PGRES_PIPELINE_ABORTED, PGRES_PIPELINE_SYNC: break
                default: failure = failure ?? PostgresFailure(result, of: connection)
                }
                PQclear(result)
            }
        }
        let isOver = PQexitPipelineMode(connection) == 1
        guard isOver, failure == nil, done == statements.count else {
            for answer in answers { PQclear(answer.result) }
            throw .failed(failure ?? PostgresFailure(nil, of: connection))
        }
        return answers
    }

    private func send(
        _ statements: [PostgresStatements.Prepared], _ values: [PostgresValues]
    ) -> PostgresFailure? {
        for (statement, values) in zip(statements, values) {
            guard statement.send(values, on: connection) else { return PostgresFailure(nil, of: connection) }
        }
        return nil
    }
}
