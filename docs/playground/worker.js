// Computes beside the page, so that a large text does not hold it up. Says
// `{ready}` once, and then `{id, result}`, or `{id, broken}` after a panic: this
// worker is of no more use then.
let panic = "";
globalThis.exposeValkeyPanicked = (message) => { panic = message; };

const loaded = import("./pkg/expose_valkey.js").then(async (module) => {
    await module.default();
    return module;
});
loaded.then(() => postMessage({ ready: true }), (error) => postMessage({ broken: `The module could not be loaded: ${error.message ?? error}` }));

onmessage = async ({ data: { id, text } }) => {
    const module = await loaded;
    try {
        postMessage({ id, result: JSON.parse(module.explain(text)) });
    } catch (error) {
        postMessage({ id, broken: panic || `${error}` });
    }
};
