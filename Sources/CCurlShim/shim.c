#include "ccurlshim.h"

#include <string.h>

CURLcode sealkit_curl_set_string(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

CURLcode sealkit_curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

CURLcode sealkit_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}

CURLcode sealkit_curl_get_long(CURL *curl, CURLINFO info, long *value) {
    return curl_easy_getinfo(curl, info, value);
}

struct source {
    const char *next;
    size_t left;
};

static size_t read_source(char *target, size_t size, size_t items, void *context) {
    struct source *source = context;
    size_t count = size * items < source->left ? size * items : source->left;
    memcpy(target, source->next, count);
    source->next += count;
    source->left -= count;
    return count;
}

static size_t keep_line(char *line, size_t size, size_t items, void *context) {
    struct sealkit_curl_answer *answer = context;
    size_t count = size * items;
    // A relay that has refused something says goodbye after it.
    static const char goodbye[] = {'2', '2', '1'};
    if (count >= sizeof goodbye && answer->count > 0 && memcmp(line, goodbye, sizeof goodbye) == 0) return count;
    answer->count = count < sizeof answer->line ? count : sizeof answer->line;
    memcpy(answer->line, line, answer->count);
    return count;
}

CURLcode sealkit_curl_upload(CURL *curl, const void *bytes, size_t count, struct sealkit_curl_answer *answer) {
    struct source source = {.next = bytes, .left = count};
    CURLcode code = curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_source);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_READDATA, &source);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, answer ? keep_line : NULL);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
    if (code == CURLE_OK) code = curl_easy_perform(curl);
    // Nothing may point at this frame, or its caller's, once it is gone; and the answer to QUIT says nothing.
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, NULL);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, NULL);
    curl_easy_setopt(curl, CURLOPT_READDATA, NULL);
    return code;
}
