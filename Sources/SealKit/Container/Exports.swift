// Types that an app writes are defined on the floors below. With the feature `MemberImportVisibility` a type's members
// are there only where its module is imported: so each of these modules comes along, with one type that SealKit names
// anyway, and no other name of it.
@_exported public import struct SealEnvelope.RecoveryKey
@_exported public import struct SealStatements.Location
