extension SyncEngine {
    /// Whose the state is, before anything is fetched or sent: the delegate is told when that has changed.
    /// - Returns: that account's database, for all of the run. When another account is signed in it takes no call any
    ///   more, so that what was begun for one account is never done in another one.
    /// - Throws: `notAuthenticated` while nobody is signed in; `accountTemporarilyUnavailable`, which changes nothing.
    func settleAccount() async throws(SealKitError) -> Database {
        let database = database
        do throws(SealKitError) { try database.core.requireSignedIn() } catch {
            let failure = error
            // That the app has not said yet who is signed in, or that nobody may be for now, takes nothing from a user.
            guard failure.code == .notAuthenticated, let before = ownState.content.account,
                try await configuration.container.accountStatus() == .noAccount
            else { throw failure }
            try await tell(.accountChange(.signOut(of: before)), before: { $0 = State.Content() })
            throw failure
        }
        let replaced = configuration.container.accounts.replacedUserRecordIDs
        // Said of this account, and not of one that came in between.
        try database.core.requireSignedIn()
        try await settle(on: database.core.userID().recordName, replacing: replaced)
        return database
    }

    private func settle(on name: String, replacing replaced: Set<Record.ID>) async throws(SealKitError) {
        let before = ownState.content.account
        let current = Record.ID(recordName: name)
        guard before != name else { return }
        guard let before else {
            return try await tell(.accountChange(.signIn(of: current)), before: { $0.account = name })
        }
        // What is here of anybody else was never this user's.
        guard replaced.contains(Record.ID(recordName: before)) else {
            let change: Change = { content in
                content = State.Content()
                content.account = name
            }
            return try await tell(.accountChange(.switchAccounts(from: before, to: current)), before: change)
        }
        try await adoptReset(name)
    }

    /// The same user with a new account, whose data opens no more: what this device has is uploaded anew. What others
    /// shared is not shared with the new account.
    private func adoptReset(_ name: String) async throws(SealKitError) {
        let reason: Event.FetchedDatabaseChanges.DeletionReason =
            configuration.databaseScope == .private ? .encryptedDataReset : .unshared
        let zones = ownState.content.zones.keys.sorted { $0.description < $1.description }
        let event = Event.FetchedDatabaseChanges(
            modifications: [],
            deletions: zones.map { Event.FetchedDatabaseChanges.Deletion(zoneID: $0, reason: reason) })
        try await tell(.fetchedDatabaseChanges(event)) { content in
            content.account = name
            content.databaseToken = nil
            (content.zones, content.unfetched) = ([:], [])
        }
    }
}

extension SyncEngine.Event.AccountChange {
    fileprivate static func signIn(of user: Record.ID) -> Self { Self(changeType: .signIn(currentUser: user)) }
    fileprivate static func signOut(of user: String) -> Self {
        Self(changeType: .signOut(previousUser: Record.ID(recordName: user)))
    }
    fileprivate static func switchAccounts(from previous: String, to current: Record.ID) -> Self {
        Self(changeType: .switchAccounts(previousUser: Record.ID(recordName: previous), currentUser: current))
    }
}
