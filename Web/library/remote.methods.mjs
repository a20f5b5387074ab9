// What a page may ask of the worker that a container runs in: no other member, and none that is inherited.
const records = ['fetchRecords', 'performQuery', 'saveRecords', 'deleteRecords'];
const zones = [
    'fetchDatabaseChanges', 'fetchAllRecordZones', 'fetchRecordZones', 'saveRecordZones', 'deleteRecordZones', 'fetchRecordZoneChanges', 'readAsset',
    'saveSubscriptions', 'deleteSubscriptions', 'fetchAllSubscriptions',
];

export const methods = {
    container: [
        'setUpAuth', 'fetchCurrentUserIdentity', 'newRecoveryKey', 'passkeyInput', 'createAccount', 'signIn', 'enrol', 'signOut', 'fetchRecordInfos', 'acceptShares', 'forgetVerified',
        'discoverUserIdentityWithEmailAddress', 'discoverUserIdentityWithPhoneNumber', 'discoverUserIdentityWithUserRecordName', 'share',
        'registerForNotifications', 'unregisterForNotifications',
    ],
    privateCloudDatabase: [...zones, ...records],
    sharedCloudDatabase: [...zones, ...records],
    publicCloudDatabase: [...records, 'readAsset'],
    share: ['refresh', 'describe', 'invite', 'lookUp', 'setParticipant', 'removeParticipant', 'setPublicPermission', 'stop', 'leave'],
};
