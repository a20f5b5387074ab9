import SealQuery
import SealSchema
import SealService
import SealStatements
import SealWire
import SwiftProtobuf

/// Every limit that a client can run into, with its number: the answer of `/1/limits`. Limits.md is the same table with
/// explanations, and a test provokes each row.
enum LimitTable {
    static func all(_ configuration: ServerConfiguration, _ rules: AbuseLimits) -> [Sealkit_V1_Limit] {
        let limits = configuration.limits
        return [
            // Of one request
            row("requestBytes", configuration.maximumMessageSize, "bytes", .limitExceeded),
            row(
                "requestBytesWithoutSession", min(RateMiddleware.strangersMessage, configuration.maximumMessageSize),
                "bytes", .limitExceeded),
            row("memoryPerByte", DecodedSize.perByte, "bytes", .limitExceeded),
            row("requestSeconds", TransferPace.messageSeconds, "seconds", .limitExceeded),
            row("itemsPerRequest", Limits.itemsPerRequest, "items", .limitExceeded),
            row("requestRecordBytes", SaveMessage.largest, "bytes", .limitExceeded),
            row("rostersPerRequest", RosterTails.most, "items", .limitExceeded),
            row("sharesPerRequest", ShareChanges.most, "items", .limitExceeded),
            row("zonesPerRequest", Limits.zonesPerRequest, "items", .limitExceeded),
            row("recordsAbove", StoredParents.mostClimbed, "records", .limitExceeded),
            row("entriesGivenBack", RosterRestore.most, "entries", .limitExceeded),
            row("fieldsWanted", Limits.fieldsPerRecord, "fields", .limitExceeded),
            row("handlesPerLookup", LookUpIdentities.mostHandles, "items", .limitExceeded),
            // Of what is sent
            row("nameBytes", Limits.nameBytes, "bytes", .invalidArguments),
            row("recordBytes", Limits.recordBytes, "bytes", .limitExceeded),
            row("fieldsPerRecord", Limits.fieldsPerRecord, "fields", .limitExceeded),
            row("indexedPartsPerRecord", RecordIndex.mostParts, "parts", .limitExceeded),
            row("indexedPartsPerRequest", RecordIndex.mostPartsPerRequest, "parts", .limitExceeded),
            row("replacedBytesPerRequest", SaveComparison.mostReplacedBytes, "bytes", .limitExceeded),
            row("assetBytes", Int(configuration.maximumAssetSize), "bytes", .limitExceeded),
            row("participantsPerShare", Limits.participantsPerScope, "participants", .tooManyParticipants),
            row("previewBytes", Limits.previewBytes, "bytes", .limitExceeded),
            row("recoveryBundleBytes", RecoveryBundle.mostBytes, "bytes", .invalidArguments),
            row("enrolmentPackageBytes", DeviceEnrolment.mostPackageBytes, "bytes", .limitExceeded),
            row("deviceNameBytes", Limits.nameBytes, "bytes", .invalidArguments),
            row("deleteSelfReferences", DeleteReference.limit, "records", .limitExceeded),
            row("deleteSelfReferencesPerRequest", DeleteReference.mostPerRequest, "references", .limitExceeded),
            row("cascadedDeletions", Cascade.limit, "records", .limitExceeded),
            // Of what is stored
            row("devicesPerAccount", Devices.mostPerAccount, "devices", nil),
            row("sessionsPerDevice", Sessions.mostPerDevice, "sessions", nil),
            row("containersPerAccount", rules.containersPerAccount, "containers", .quotaExceeded),
            row("storageBytes", Int(limits.storageQuota), "bytes", .quotaExceeded),
            row("publicStorageBytes", Int(limits.publicStorageQuota), "bytes", .quotaExceeded),
            row("recordsPerZone", Int(limits.recordsPerZone), "records", .quotaExceeded),
            row("zonesPerUser", Int(limits.zonesPerUser), "zones", .quotaExceeded),
            row("rosterEntries", rules.rosterEntries, "entries", .limitExceeded),
            row("stagedAssets", rules.stagedBlobsPerAccount, "assets", .quotaExceeded),
            row("openUploads", rules.openUploadsPerAccount, "uploads", .limitExceeded),
            row("stagedAssetBytes", Int(rules.stagedBytesPerAccount), "bytes", .quotaExceeded),
            row("accessRequestsPerShare", AccessRequests.mostPerShare, "requests", .limitExceeded),
            row("accessRequestsPerUser", AccessRequests.mostPerUser, "requests", .limitExceeded),
            // Of how often
            row("requestRate", limits.requestRate, "a second", .requestRateLimited),
            row("writeRate", limits.writeRate, "a second", .requestRateLimited),
            row("readRate", limits.readRate, "a second", .requestRateLimited),
            row("sharingRate", limits.sharingRate, "a second", .requestRateLimited),
            row("anonymousRate", limits.anonymousRate, "a second", .requestRateLimited),
            row("accountCreations", Int(rules.accountCreation.count), "an hour", .requestRateLimited),
            row("lookups", Int(rules.lookup.count), "an hour", .requestRateLimited),
            row("verificationTries", Int(rules.verificationTry.count), "an hour", .requestRateLimited),
            row("rosterEntriesBeyond", Int(rules.rosterEntriesBeyond.count), "an hour", .requestRateLimited),
            row("epochOpenings", Int(rules.epochOpening.count), "an hour", .requestRateLimited),
            row("accessRequests", Int(rules.accessRequest.count), "an hour", .requestRateLimited),
            row("serverKeyCreations", Int(rules.serverKeyCreation.count), "an hour", .requestRateLimited),
            row("enrolments", Int(rules.enrolment.count), "an hour", .requestRateLimited),
            row("recoveries", Int(rules.recovery.count), "10 minutes", .requestRateLimited),
            row(
                "codesPerAccountAndAddress", rules.sending.shortest(.accountAndAddress), "15 minutes",
                .requestRateLimited),
            row(
                "codesPerAccountAndAddressDaily", rules.sending.longest(.accountAndAddress), "a day",
                .requestRateLimited),
            row("codesPerAddress", rules.sending.shortest(.address), "15 minutes", .requestRateLimited),
            row("codesPerAddressDaily", rules.sending.longest(.address), "a day", .requestRateLimited),
            row("codesPerAccount", rules.sending.longest(.account), "an hour", .requestRateLimited),
            row("codesPerShare", rules.sending.longest(.share), "an hour", .requestRateLimited),
            row("codesPerClient", rules.sending.longest(.client), "an hour", .requestRateLimited),
            row("mailPerHour", rules.sending.longest(.allMail), "an hour", .requestRateLimited),
            row("textsPerHour", rules.sending.longest(.allPhones), "an hour", .requestRateLimited),
            // Of everybody together
            row("enrolmentsOpen", Enrolments.mostOpen, "enrolments", .serviceUnavailable),
            row("requestsInFlight", limits.requestsInFlight, "requests", .serviceUnavailable),
            row("bytesInFlight", limits.bytesInFlight, "bytes", .serviceUnavailable),
            row(
                "requestsInFlightPerClient", LoadGate.share(of: limits.requestsInFlight), "requests",
                .serviceUnavailable),
            row("bytesInFlightPerClient", LoadGate.share(of: limits.bytesInFlight), "bytes", .serviceUnavailable),
            row(
                "requestsInFlightWithoutSession", LoadGate.share(of: limits.requestsInFlight), "requests",
                .serviceUnavailable),
            row("bytesInFlightWithoutSession", LoadGate.share(of: limits.bytesInFlight), "bytes", .serviceUnavailable),
            row(
                "requestsInFlightPerStranger", LoadGate.share(of: LoadGate.share(of: limits.requestsInFlight)),
                "requests",
                .serviceUnavailable),
            row(
                "bytesInFlightPerStranger", LoadGate.share(of: LoadGate.share(of: limits.bytesInFlight)), "bytes",
                .serviceUnavailable),
            row("writeBudget", limits.writeBudget, "seconds", .limitExceeded),
        ].filter { $0.value > 0 } + queries + management + push(rules)
    }

    private static let queries = [
        row("queryConditions", Query.Limits.conditions, "conditions", .invalidArguments),
        row("queryListValues", Query.Limits.listValues, "values", .invalidArguments),
        row("queryValueBytes", Query.Limits.valueBytes, "bytes", .invalidArguments),
        row("queryWords", Query.Limits.words, "words", .invalidArguments),
        row("querySortKeys", Query.Limits.sortDescriptors, "keys", .invalidArguments),
        row("queryZones", QueryRecords.mostZones, "zones", .limitExceeded),
        row("querySortedZones", QueryPager.mostOrderedZones, "zones", .limitExceeded),
        row("queryRecordsInOrder", QueryRun.mostOrdered, "records", .limitExceeded),
    ]

    private static let management = [
        row("recordTypes", SchemaLimits.types, "types", .limitExceeded),
        row("fieldsPerRecordType", SchemaLimits.fieldsPerType, "fields", .limitExceeded),
        row("fieldsPerSchema", SchemaLimits.fields, "fields", .limitExceeded),
        row("rolesPerSchema", SchemaLimits.roles, "roles", .invalidArguments),
        row("schemaBytes", SchemaLimits.textBytes, "bytes", .invalidArguments),
        row("managementTokens", ManagementTokens.mostPerContainer, "tokens", .limitExceeded),
        row("managementTokenSeconds", Int(ContainerTokens.longestLifetime), "seconds", .invalidArguments),
        row("serverKeys", ServerKeys.mostPerAccount, "keys", .limitExceeded),
    ]

    private static func push(_ rules: AbuseLimits) -> [Sealkit_V1_Limit] {
        [
            row("subscriptions", PushLimits.subscriptions, "subscriptions", .limitExceeded),
            row("querySubscriptions", PushLimits.querySubscriptions, "subscriptions", .limitExceeded),
            row("subscriptionBytes", PushLimits.subscriptionBytes, "bytes", .limitExceeded),
            row("notificationInfoBytes", PushLimits.infoBytes, "bytes", .limitExceeded),
            row("desiredKeys", PushLimits.desiredKeys, "fields", .invalidArguments),
            row("webhookURLBytes", PushLimits.webhookBytes, "bytes", .limitExceeded),
            row("streamsPerAccount", rules.streamsPerAccount, "streams", .requestRateLimited),
            row("streams", PushLimits.streams, "streams", .serviceUnavailable),
            row("notificationsAtOnce", FiredSubscriptions.mostRows, "notifications", .changeTokenExpired),
            row("subscriptionsPerChange", PushLimits.subscriptionsPerChange, "subscriptions", .changeTokenExpired),
            row("notificationsKept", PushLimits.notifications, "notifications", .changeTokenExpired),
            row("notificationDays", Int(PushLimits.kept / 86_400_000_000), "days", .changeTokenExpired),
            row("publicChangesWaiting", PushLimits.publicChanges, "changes", .changeTokenExpired),
        ]
    }

    private static func row(_ name: String, _ value: Int, _ unit: String, _ code: ErrorCode?) -> Sealkit_V1_Limit {
        .with {
            $0.name = name
            $0.value = UInt64(clamping: value)
            $0.unit = unit
            $0.code = code?.rawValue ?? ""
        }
    }
}
