import CloudKit

func accountStatuses() {
    let _: [CKAccountStatus] = [
        .available, .couldNotDetermine, .noAccount, .restricted, .temporarilyUnavailable,
    ]
    let _: CKAccountStatus? = CKAccountStatus(rawValue: 1)
}
