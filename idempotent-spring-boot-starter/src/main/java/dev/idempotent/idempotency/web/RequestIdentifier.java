package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyKey.Kind;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.engine.RunIdentity;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.token.TokenCheck;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Identifies requests: by their key, from the header, an expression, a one-time token or
 * the fingerprint, and by their fingerprint.
 */
final class RequestIdentifier {

	private static final int LARGE_BODY = 16 * 1024;

	private static final Duration LARGE_BODY_TIMEOUT = Duration.ofSeconds(10);

	private final String namespace;

	private final KeyHeader header;

	private final IdempotencyScopeResolver scopeResolver;

	private final RequestTokens tokens;

	private final Function<HttpServletRequest, @Nullable String> csrfParameter;

	/**
	 * Limits how many large bodies are canonicalized at the same time, in arrival order.
	 * That is CPU-bound and takes up to forty times their size in memory.
	 */
	private final Semaphore largeBodies;

	private final Duration largeBodyTimeout;

	RequestIdentifier(IdempotencyWebSettings settings, IdempotencyScopeResolver scopeResolver, RequestTokens tokens,
			Function<HttpServletRequest, @Nullable String> csrfParameter) {
		this(settings, scopeResolver, tokens, csrfParameter, Runtime.getRuntime().availableProcessors(),
				LARGE_BODY_TIMEOUT);
	}

	RequestIdentifier(IdempotencyWebSettings settings, IdempotencyScopeResolver scopeResolver, RequestTokens tokens,
			Function<HttpServletRequest, @Nullable String> csrfParameter, int largeBodies, Duration largeBodyTimeout) {
		this.namespace = settings.namespace();
		this.header = new KeyHeader(settings.header());
		this.scopeResolver = scopeResolver;
		this.tokens = tokens;
		this.csrfParameter = csrfParameter;
		this.largeBodies = new Semaphore(largeBodies, true);
		this.largeBodyTimeout = largeBodyTimeout;
	}

	/**
	 * Requires a caller: a cancellation without one would not find the action of its
	 * caller.
	 * @throws RefusedRequestException if the caller is unknown
	 */
	void requireCaller(HttpServletRequest request) {
		String scope;
		try {
			scope = scope(request);
		}
		catch (RefusedRequestException ex) {
			throw Problem.CALLER_REQUIRED.refusal(ex.detail());
		}
		if (scope.isEmpty()) {
			throw Problem.CALLER_REQUIRED
				.refusal("Nothing was done: the caller is unknown, and this operation cancels another one or can be "
						+ "cancelled, so both must have the same known caller. Let only authenticated callers use it, "
						+ "or declare a bean of type IdempotencyScopeResolver.");
		}
	}

	/**
	 * Identifies a request.
	 * @param operation the operation of the request
	 * @param action the action that the operation cancels, if any
	 * @throws RefusedRequestException if a key is missing, malformed or not accepted
	 */
	Identity identify(IdempotentOperation operation, @Nullable IdempotentOperation action, BufferedRequest request) {
		if (request.body().length <= LARGE_BODY) {
			return identity(operation, action, request);
		}
		awaitPermit();
		try {
			return identity(operation, action, request);
		}
		finally {
			this.largeBodies.release();
		}
	}

	private void awaitPermit() {
		try {
			if (this.largeBodies.tryAcquire(this.largeBodyTimeout.toMillis(), TimeUnit.MILLISECONDS)) {
				return;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw Problem.OVERLOADED.refusal();
	}

	private Identity identity(IdempotentOperation operation, @Nullable IdempotentOperation action,
			BufferedRequest request) {
		boolean parameters = request.form() != null || request.parts() != null || request.getQueryString() != null;
		Fingerprint fingerprint = operation.fingerprinter()
			.fingerprint(request, parameters ? this.csrfParameter.apply(request) : null);
		Duration retention = operation.settings().retention();
		if (operation.keySource() == KeySource.TOKEN) {
			String purpose = operation.settings().name();
			TokenCheck token = this.tokens.check(request, this.header, purpose);
			IdempotencyKey key = IdempotencyKey.of(Kind.TOKEN, this.namespace, "", purpose, token.serial());
			return new Identity(
					RunIdentity.of(key, fingerprint,
							(token.retention().compareTo(retention) > 0) ? token.retention() : retention),
					token.outcome() == TokenCheck.Outcome.EXPIRED, null, null);
		}
		boolean fromHeader = operation.keyExpression() == null && operation.keySource() != KeySource.FINGERPRINT;
		String headerKey = fromHeader ? this.header.read(request) : null;
		IdempotencyKey key = (headerKey != null) ? key(Kind.HEADER, request, "", headerKey)
				: keyWithoutHeader(operation, request, fingerprint);
		if (action == null) {
			boolean byFingerprint = headerKey == null && operation.keyExpression() == null;
			return new Identity(new RunIdentity(key, fingerprint, retention, byFingerprint), false, null, headerKey);
		}
		Cancellation cancels = Cancellation.read(request, (value) -> key(Kind.HEADER, request, "", value), key,
				action.settings(), Objects.requireNonNull(action.transactions()));
		return new Identity(RunIdentity.of(key, cancels.fingerprint(operation.settings().name()), retention), false,
				cancels, headerKey);
	}

	private IdempotencyKey keyWithoutHeader(IdempotentOperation operation, BufferedRequest request,
			Fingerprint fingerprint) {
		RequestKeyExpression expression = operation.keyExpression();
		if (expression != null) {
			String value = expression.evaluate(request);
			if (value == null) {
				throw Problem.KEY_MISSING
					.refusal("This operation derives its idempotency key from the request, and this request lacks the "
							+ "value of the key.");
			}
			return key(Kind.EXPRESSION, request, operation.settings().name(), value);
		}
		if (operation.keySource() == KeySource.HEADER) {
			throw this.header.missing();
		}
		String scope = scope(request);
		if (!scope.isEmpty()) {
			return IdempotencyKey.of(Kind.FINGERPRINT, this.namespace, scope, operation.settings().name(),
					addressed(request, fingerprint));
		}
		// Equal requests of two unknown callers could be two operations.
		if (operation.keySource() == KeySource.HEADER_OR_FINGERPRINT) {
			throw this.header.missing();
		}
		throw Problem.CALLER_UNKNOWN
			.refusal("Nothing was done: this operation takes its idempotency key from the fingerprint, and the caller "
					+ "is not known, so equal requests of two callers would count as one. Let only authenticated "
					+ "callers use it, or declare a bean of type IdempotencyScopeResolver.");
	}

	/**
	 * Equal requests to two hosts, or behind two prefixes of a gateway, may come from two
	 * tenants.
	 */
	private static String addressed(HttpServletRequest request, Fingerprint fingerprint) {
		List<byte[]> parts = Stream
			.of(fingerprint.digest(), RequestAddress.host(request), ClientAddress.prefix(request))
			.map((text) -> text.getBytes(StandardCharsets.UTF_8))
			.toList();
		return Fingerprint.of(parts).digest();
	}

	private IdempotencyKey key(Kind kind, HttpServletRequest request, String operation, String value) {
		return IdempotencyKey.of(kind, this.namespace, scope(request), operation, value);
	}

	private String scope(HttpServletRequest request) {
		String scope = this.scopeResolver.resolveScope(request);
		if (scope == null) {
			throw Problem.CALLER_UNKNOWN
				.refusal("Nothing was done: the IdempotencyScopeResolver " + this.scopeResolver.getClass().getName()
						+ " returned null for this request. Let it return an empty string for a caller that it does "
						+ "not know.");
		}
		return scope;
	}

	/**
	 * What identifies a request.
	 *
	 * @param run the identity of its run
	 * @param expired whether the token of the key has expired: it only gets the response
	 * that is stored
	 * @param cancels the cancellation that it requests, if any
	 * @param headerKey the key of its header, if the key comes from the header
	 */
	record Identity(RunIdentity run, boolean expired, @Nullable Cancellation cancels, @Nullable String headerKey) {
	}

}
