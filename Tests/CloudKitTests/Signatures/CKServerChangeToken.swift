import CloudKit

func tokens(_ token: CKServerChangeToken, _ coder: NSCoder) {
    let _: CKServerChangeToken? = CKServerChangeToken(coder: coder)
    token.encode(with: coder)
    let _: CKServerChangeToken? = token.copy() as? CKServerChangeToken
}
