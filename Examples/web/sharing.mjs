// A page in which somebody says who may open a zone: all of that is <seal-share>. It runs under a policy without inline scripts and styles.
import CloudKit from './sealkit/library/sealkit.mjs';
import './sealkit/library/seal-share.mjs';

const [containerIdentifier, environment] = ['org.sealkit.notes', 'development'];
const $ = id => document.getElementById(id);

$('enter').addEventListener('submit', async event => {
    event.preventDefault();
    $('problem').textContent = '';
    const { server, recoveryKey, zoneName, owner } = Object.fromEntries(new FormData(event.target));
    try {
        CloudKit.configure({ containers: [{ containerIdentifier, environment, server }] });
        const container = CloudKit.getDefaultContainer();
        await container.signIn({ recoveryKey });
        const zoneID = { zoneName, ...owner && { ownerRecordName: owner } };
        Object.assign($('share'), { container, zoneID, hidden: false });
        $('enter').hidden = true;
        $('sheet').hidden = false;
        $('sheet').addEventListener('click', () => container.shareWithUI({ zoneID }));
    } catch (error) {
        $('problem').textContent = error.message;
    }
});
