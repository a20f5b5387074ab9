import CloudKit

func databaseOperations(_ operation: CKDatabaseOperation) {
    let _: CKDatabaseOperation = CKDatabaseOperation()
    let _: CKDatabase? = operation.database
}
