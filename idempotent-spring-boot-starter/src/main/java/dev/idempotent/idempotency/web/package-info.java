/**
 * Idempotent operations over HTTP: a servlet filter that runs, replays or refuses. A user
 * or extender needs {@code IdempotencyScopeResolver}, {@code ProblemRenderer},
 * {@code ResponseRedactor} with its {@code ReplayableResponse}, and
 * {@code PrincipalScopeResolver}.
 * <p>
 * The way of a request:
 * <ol>
 * <li><b>In.</b> {@code IdempotencyFilter}, the last filter, lets the request pass as a
 * {@code Passage}. {@code IdempotencyErrorFilter}, the first one, notices by a
 * {@code CountedBody} who reads the body, and settles what no other code will.</li>
 * <li><b>Which handler.</b> {@code IdempotentHandlerMapping} asks the other mappings and
 * adds the last interceptor; {@code IdempotentHandlerAdapter}, behind all interceptors,
 * tells the passage which {@code Handler} was reached. {@code IdempotentOperations} knows
 * the {@code IdempotentOperation} of the handler.</li>
 * <li><b>Which call.</b> {@code BufferedRequest} reads the body.
 * {@code RequestIdentifier} determines the key, from {@code KeyHeader},
 * {@code RequestKeyExpression} or {@code RequestTokens}, and the fingerprint by
 * {@code RequestFingerprinter}, from {@code RequestUrl}, {@code RequestAddress},
 * {@code ComparedHeaders} and the body; {@code ClientAddress} is what of the address may
 * tell tenants apart. A {@code Cancellation} also claims the key of the action that the
 * request cancels.</li>
 * <li><b>Run.</b> A {@code HandlerRun} is open: {@code LeaseHandlerRun}, with
 * {@code AsyncWork} and {@code SurroundingTransactions}, or
 * {@code TransactionalHandlerRun}. {@code HandlerInvocationAdvisor} watches whether the
 * method was entered, and {@code BufferedResponse} keeps what it writes.</li>
 * <li><b>Replay or refuse.</b> {@code ResponseWriter} sends a stored response, or a
 * {@code Problem} in the form of {@code ProblemTypes}.</li>
 * <li><b>Out.</b> {@code ResponsePolicy} decides what of a {@code CapturedResponse} is
 * stored. If the commit behind a view fails, {@code ViewFailureResolver} asks the
 * exception resolvers of the application.</li>
 * </ol>
 * {@code IdempotencyWebSettings} has the settings. {@code IdempotencyWebComponents}
 * creates what auto-configuration declares and checks {@code HeaderNames}, and
 * {@code IdempotencyOpenApiCustomizer} documents the operations.
 */
@NullMarked
package dev.idempotent.idempotency.web;

import org.jspecify.annotations.NullMarked;
