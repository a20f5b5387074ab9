// Samples of zones, records, sharing and subscriptions as they are written for CloudKit JS. Other than there are the line that imports the
// library, the server in the place of an API token, a passkey in the place of Apple's sign-in button, whole links in the place of short GUIDs, and `encryptedFields`.
import CloudKit from './sealkit/library/sealkit.mjs';

CloudKit.configure({
    containers: [{
        containerIdentifier: 'org.sealkit.notes',
        environment: 'development',
        server: new URLSearchParams(location.search).get('server') ?? location.origin,
    }],
});

const $ = id => document.getElementById(id);

function demoSetUpAuth() {
    const container = CloudKit.getDefaultContainer();

    function gotoAuthenticatedState(userIdentity) {
        $('displayed-username').textContent = `Signed in as ${userIdentity.userRecordName}`;
        toggle(true);
        container.whenUserSignsOut().then(gotoUnauthenticatedState);
    }
    function gotoUnauthenticatedState() {
        $('displayed-username').textContent = 'Nobody is signed in';
        toggle(false);
        container.whenUserSignsIn().then(gotoAuthenticatedState).catch(renderError);
    }
    function toggle(isSignedIn) {
        $('sample').hidden = $('sign-out').hidden = !isSignedIn;
        $('sign-in').hidden = $('sign-up').hidden = isSignedIn;
    }

    $('sign-in').onclick = () => container.signIn({ passkey: true }).catch(renderError);
    $('sign-up').onclick = () => container.createAccount({ passkey: true }).catch(renderError);
    $('sign-out').onclick = () => container.signOut();
    return container.setUpAuth().then(userIdentity => {
        if (userIdentity) gotoAuthenticatedState(userIdentity); else gotoUnauthenticatedState();
    });
}

const databaseOf = databaseScope => CloudKit.getDefaultContainer().getDatabaseWithDatabaseScope(CloudKit.DatabaseScope[databaseScope]);
const zone = ({ zoneName, ownerRecordName }) => {
    const zoneID = { zoneName };
    if (ownerRecordName) zoneID.ownerRecordName = ownerRecordName;
    return zoneID;
};

function checked(response) {
    if (response.hasErrors) throw response.errors[0];
    return response;
}

const samples = {
    // Zones

    demoSaveRecordZones({ databaseScope, zoneName }) {
        return databaseOf(databaseScope).saveRecordZones({ zoneName }).then(checked);
    },
    demoFetchRecordZones({ databaseScope, ...rest }) {
        return databaseOf(databaseScope).fetchRecordZones(zone(rest)).then(checked);
    },
    demoFetchAllRecordZones({ databaseScope }) {
        return databaseOf(databaseScope).fetchAllRecordZones().then(checked);
    },
    demoDeleteRecordZones({ databaseScope, zoneName }) {
        return databaseOf(databaseScope).deleteRecordZones({ zoneName }).then(checked);
    },
    demoFetchDatabaseChanges({ databaseScope, syncToken }) {
        const options = {};
        if (syncToken) options.syncToken = syncToken;
        return databaseOf(databaseScope).fetchDatabaseChanges(options);
    },
    demoFetchRecordZoneChanges({ databaseScope, syncToken, ...rest }) {
        const options = { zoneID: zone(rest) };
        if (syncToken) options.syncToken = syncToken;
        return databaseOf(databaseScope).fetchRecordZoneChanges(options).then(checked);
    },

    // Records

    demoSaveRecords({ databaseScope, recordType, recordName, recordChangeTag, name, quantity, ...rest }) {
        const record = { recordType, encryptedFields: { name: { value: name } }, fields: { quantity: { value: Number(quantity) } } };
        if (recordName) record.recordName = recordName;
        if (recordChangeTag) record.recordChangeTag = recordChangeTag;
        return databaseOf(databaseScope).saveRecords(record, { zoneID: zone(rest) }).then(checked);
    },
    demoFetchRecords({ databaseScope, recordName, ...rest }) {
        return databaseOf(databaseScope).fetchRecords([recordName], { zoneID: zone(rest) }).then(checked);
    },
    demoPerformQuery({ databaseScope, recordType, quantity, ...rest }) {
        const query = {
            recordType,
            filterBy: [{ fieldName: 'quantity', comparator: 'GREATER_THAN_OR_EQUALS', fieldValue: { value: Number(quantity) } }],
            sortBy: [{ fieldName: 'name', ascending: true }],
        };
        return databaseOf(databaseScope).performQuery(query, { zoneID: zone(rest), resultsLimit: 50, desiredKeys: ['name', 'quantity'] }).then(checked);
    },
    demoDeleteRecords({ databaseScope, recordName, ...rest }) {
        return databaseOf(databaseScope).deleteRecords([recordName], { zoneID: zone(rest) }).then(checked);
    },

    // Sharing

    demoShareWithUI({ databaseScope, ...rest }) {
        return databaseOf(databaseScope).shareWithUI({ zoneID: zone(rest), shareTitle: 'Groceries', supportedPermissions: ['public', 'readWrite'] });
    },
    demoFetchRecordInfos({ shareURL }) {
        return CloudKit.getDefaultContainer().fetchRecordInfos(shareURL).then(checked);
    },
    demoAcceptShares({ shareURL }) {
        return CloudKit.getDefaultContainer().acceptShares(shareURL).then(checked);
    },

    // Subscriptions

    demoSaveSubscriptions({ databaseScope, subscriptionID, ...rest }) {
        return databaseOf(databaseScope).saveSubscriptions({ subscriptionType: 'zone', subscriptionID, zoneID: zone(rest) }).then(checked);
    },
    demoFetchAllSubscriptions({ databaseScope }) {
        return databaseOf(databaseScope).fetchAllSubscriptions().then(checked);
    },
    demoDeleteSubscriptions({ databaseScope, subscriptionID }) {
        return databaseOf(databaseScope).deleteSubscriptions(subscriptionID).then(checked);
    },
    demoRegisterForNotifications() {
        const container = CloudKit.getDefaultContainer();
        container.addNotificationListener(notification => {
            const item = document.createElement('li');
            item.textContent = notification ? `${notification.notificationType ?? notification.subscriptionType ?? ''} ${notification.subscriptionID ?? ''}` : 'Something was missed';
            $('notifications').append(item);
        });
        return container.registerForNotifications().then(() => ({ isRegisteredForNotifications: container.isRegisteredForNotifications }));
    },
};

function render(response) {
    $('response').textContent = JSON.stringify(response ?? null, (_, value) => typeof value === 'bigint' ? String(value) : value, 2);
}
function renderError(error) {
    render({ error: error.message, ckErrorCode: error.ckErrorCode });
}

$('sample').elements.sample.append(...Object.keys(samples).map(name => Object.assign(document.createElement('option'), { textContent: name })));
$('sample').addEventListener('submit', event => {
    event.preventDefault();
    const { sample, ...facts } = Object.fromEntries(new FormData(event.target));
    $('response').textContent = '';
    samples[sample](facts).then(render).catch(renderError);
});
demoSetUpAuth().catch(renderError);
