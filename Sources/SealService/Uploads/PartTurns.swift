import SealStorage

/// Who writes a part: one request at a time, the newest that sends it. That the client of an older one is gone may show
/// late, and nobody waits for it.
actor PartTurns {
    struct Turn: Sendable {
        fileprivate let place: Place
        fileprivate let number: Int
    }

    fileprivate struct Place: Hashable {
        let upload: BlobID
        let part: Int64
    }

    private struct Holder {
        let number: Int
        var upload: (any BlobUpload)?
        /// Has all of it: nobody takes its place any more.
        var isStoring = false
        /// Ends when those before it write nothing any more.
        let others: Task<Void, Never>
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private var holders: [Place: Holder] = [:]
    private var last = 0

    /// Takes whoever's turn it is theirs, but lets who has all of the part store it first.
    func take(_ part: Int64, of upload: BlobID) async -> Turn {
        last += 1
        let place = Place(upload: upload, part: part)
        let turn = Turn(place: place, number: last)
        while holders[place]?.isStoring == true {
            await withCheckedContinuation { holders[place]?.waiting.append($0) }
        }
        let before = holders[place]
        let others = Task {
            await before?.others.value
            await before?.upload?.abort()
        }
        holders[place] = Holder(number: turn.number, others: others)
        await others.value
        return turn
    }

    /// - Returns: false where it is somebody else's turn by now: then nothing is to be written.
    func begin(_ upload: any BlobUpload, _ turn: Turn) -> Bool { change(turn) { $0.upload = upload } }

    /// Keeps the turn until it is given up.
    /// - Returns: false where it is somebody else's by now.
    func store(_ turn: Turn) -> Bool { change(turn) { $0.isStoring = true } }

    /// Whether somebody has its place.
    func isTaken(_ turn: Turn) -> Bool { holders[turn.place].map { $0.number != turn.number } ?? false }

    func giveUp(_ turn: Turn) {
        guard let holder = holders[turn.place], holder.number == turn.number else { return }
        holders[turn.place] = nil
        for one in holder.waiting { one.resume() }
    }

    private func change(_ turn: Turn, _ body: (inout Holder) -> Void) -> Bool {
        guard var holder = holders[turn.place], holder.number == turn.number else { return false }
        body(&holder)
        holders[turn.place] = holder
        return true
    }
}
