/// What a package asks that has two ways: nothing that it depends on has a CloudKit.
#if canImport(CloudKit)
    public let seesCloudKit = true
#else
    public let seesCloudKit = false
#endif
