/// Who runs a job, and until when: a row, so that servers over one database do not run one at the same time. What a
/// server had that is gone is free at once where the engine knows who is there. Times are microseconds since 1970.
package struct JobLease: Sendable {
    package static let table = """
        CREATE TABLE job (
            name TEXT NOT NULL PRIMARY KEY,
            holder BLOB NOT NULL,
            until BIGINT NOT NULL,
            finished BIGINT NOT NULL
        );
        """

    /// How long it is good for: whoever dies with it keeps others from the job for that long.
    package static let length: Int64 = 20_000_000
    /// It is renewed when that much of it is over, and not with each step.
    private static let renewal: Int64 = 5_000_000
    /// So much of it is left after each step.
    package static let leastLeft = length - renewal
    /// So much of it whoever does something outside of the database has left at least: what takes longest there, a
    /// webhook, and a little more.
    static let leastOutside: Int64 = 18_000_000

    /// Another server runs the job.
    struct HeldElsewhere: Error {}

    let job: Job.Name
    /// Of one start of one server: `Peers.holder`.
    package let holder: [UInt8]

    package init(job: Job.Name, holder: [UInt8]) {
        self.job = job
        self.holder = holder
    }

    /// Makes sure, in the transaction of a step, that the job is this server's.
    ///
    /// Throws `HeldElsewhere`.
    /// - Parameter least: it is renewed where less than that of it is left.
    /// - Returns: until when it is this server's.
    @discardableResult
    package func hold(
        now: Int64, leaving least: Int64 = JobLease.leastLeft, in connection: any SQLConnection
    ) throws -> Int64 {
        let row = try connection.first("SELECT holder, until FROM job WHERE name = $1", [.text(job.rawValue)]) {
            (holder: try $0.bytes("holder"), until: try $0.int64("until"))
        }
        if let row {
            let left = row.until - now
            guard try row.holder == holder || isFree(row.holder, left: left, in: connection) else {
                throw HeldElsewhere()
            }
            if row.holder == holder, left > least, !Self.isImpossible(left) { return row.until }
        }
        try connection.execute(
            """
            INSERT INTO job (name, holder, until, finished) VALUES ($1, $2, $3, 0)
            ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
            """, [.text(job.rawValue), .blob(holder), .integer(now + Self.length)])
        return now + Self.length
    }

    /// How far the clocks of two servers may differ.
    private static let clockTolerance: Int64 = 60_000_000

    /// A clock was set back since: nobody holds a lease for longer than it is good for.
    private static func isImpossible(_ left: Int64) -> Bool { left > length + clockTolerance }

    /// Whether another server has the job, as far as a read can tell.
    /// - Parameter stay: in microseconds, for how long after its lease a server that is there still has it.
    func isHeldElsewhere(now: Int64, staying stay: Int64, in connection: any SQLConnection) throws -> Bool {
        let row = try connection.first(
            "SELECT holder, until FROM job WHERE name = $1 AND holder <> $2", [.text(job.rawValue), .blob(holder)]
        ) { (holder: try $0.bytes("holder"), until: try $0.int64("until")) }
        return try row.map { try !isFree($0.holder, left: $0.until - now, staying: stay, in: connection) } ?? false
    }

    /// Whether a holder's lease has ended, or its process has.
    private func isFree(
        _ holder: [UInt8], left: Int64, staying stay: Int64 = 0, in connection: any SQLConnection
    ) throws -> Bool {
        if left <= -stay || Self.isImpossible(left) { return true }
        let processes = try connection.processes()
        // None: the engine knows of no processes.
        return !processes.isEmpty && !processes.contains { Peers.holder($0) == holder }
    }

    /// When a run of the job was last done; 0 before the first one.
    func finished(in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT finished FROM job WHERE name = $1", [.text(job.rawValue)]) {
            try $0.int64("finished")
        } ?? 0
    }

    /// Notes that a run is done, in a transaction that has made sure of the lease.
    package func finish(now: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE job SET finished = $2 WHERE name = $1", [.text(job.rawValue), .integer(now)])
    }

    /// Gives back all that a server holds, when it stops.
    package static func release(_ holder: [UInt8], in connection: any SQLConnection) throws {
        try connection.execute("UPDATE job SET until = 0 WHERE holder = $1", [.blob(holder)])
    }

    /// When the only server of a database starts: whoever held a lease is gone.
    package static func releaseAll(in connection: any SQLConnection) throws {
        try connection.execute("UPDATE job SET until = 0")
    }
}
