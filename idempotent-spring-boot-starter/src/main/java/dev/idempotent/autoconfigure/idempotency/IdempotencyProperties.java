package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.CommitOn;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.ProblemRenderer;
import dev.idempotent.idempotency.web.ResponseRedactor;
import dev.idempotent.jdbc.Database;
import dev.idempotent.token.TokenSecret;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

/**
 * Properties of all idempotent operations.
 *
 * @param enabled Whether the @Idempotent annotation has an effect.
 * @param namespace Name that separates the keys of this application from the keys of
 * others in a shared store. Required, and must never change.
 * @param store Where keys are stored. Defaults to Redis if the application uses it, and
 * to its database otherwise.
 * @param guarantee Guarantee of operations that specify none. Unset, it is lease, and a
 * warning at startup names those that could have the other one.
 * @param lease How long a claim stays valid without renewal. It is renewed while the
 * handler runs.
 * @param retention How long a completed key is replayed.
 * @param maxRun How long a lease is renewed at most, so that a hanging handler does not
 * hold its key indefinitely.
 * @param onError Whether a key is released or its error stored when the handler ends with
 * a status of 500 or above, or with an exception.
 * @param onStoreFailure Whether a request is rejected or proceeds without a claim when
 * the store is unreachable.
 */
@ConfigurationProperties("idempotent")
public record IdempotencyProperties(@DefaultValue("true") boolean enabled, @Nullable String namespace,
		@Nullable Store store, @Nullable DefaultGuarantee guarantee, @DefaultValue("30s") Duration lease,
		@DefaultValue("24h") Duration retention, @DefaultValue("10m") Duration maxRun,
		@DefaultValue("release") OnError onError, @DefaultValue("reject") OnStoreFailure onStoreFailure) {

	public IdempotencyProperties {
		requireDuration("idempotent.lease", lease);
		requireDuration("idempotent.max-run", maxRun);
		Durations.requireRetention("idempotent.retention", retention, "idempotent.lease", lease);
	}

	/**
	 * Returns the namespace, which is declared and never derived: the name of an
	 * application changes with a deployment, and its keys would be forgotten.
	 * @param namespace the value of {@code idempotent.namespace}
	 * @param applicationName the name of the application to propose, possibly empty
	 * @return the namespace
	 * @throws IdempotentConfigurationException if it is not set
	 */
	public static String requireNamespace(@Nullable String namespace, String applicationName) {
		if (namespace != null && !namespace.isBlank()) {
			return namespace;
		}
		throw new IdempotentConfigurationException(
				"idempotent.namespace is not set. It is part of all keys and of the source of events, so that they "
						+ "differ from those of other applications, and is not taken from spring.application.name, which "
						+ "may change.",
				"Set idempotent.namespace=" + (applicationName.isBlank() ? "<name>" : applicationName)
						+ ". It must never change: keys of another namespace are unknown, so completed calls would run "
						+ "again.");
	}

	Guarantee defaultGuarantee() {
		return (this.guarantee == DefaultGuarantee.TRANSACTION) ? Guarantee.TRANSACTION : Guarantee.LEASE;
	}

	private static void requireDuration(String property, Duration value) {
		Durations.require(property, value, IdempotencyStore.MAX_DURATION);
	}

	/**
	 * The guarantees that can be the default.
	 */
	enum DefaultGuarantee {

		/**
		 * The key is claimed in the store, under a lease.
		 */
		LEASE,

		/**
		 * The record of the key commits in the database transaction of the work.
		 */
		TRANSACTION

	}

	/**
	 * The stores that are auto-configured.
	 */
	enum Store {

		/**
		 * In the application's Redis.
		 */
		REDIS,

		/**
		 * In the application's database.
		 */
		JDBC

	}

	/**
	 * Properties of idempotent web handlers.
	 *
	 * @param header Name of the request header that carries the idempotency key.
	 * @param requiredFor Requests that need a key although their handler is not
	 * annotated, as method and path pattern such as "POST /api/**". Paths are written as
	 * in a mapping, without the context path and spring.mvc.servlet.path.
	 * @param maxRequestBody Maximum size of a request body with a key. Larger requests
	 * get 413.
	 * @param maxResponseBody Maximum size of a stored response body. Larger responses are
	 * sent and cannot be replayed.
	 * @param maxBufferedResponse Maximum size of a response body that is buffered until
	 * its transaction has committed, under Guarantee.TRANSACTION. For a larger response
	 * the transaction is rolled back and the client gets 500.
	 * @param storedStatuses Statuses below 500, and ranges of them, that are stored.
	 * After any other status the key is released. Under Guarantee.TRANSACTION, what a
	 * handler has returned is stored if it commits, and this property applies to work
	 * that was rolled back.
	 * @param commitOn Which responses commit the work of a handler that has returned
	 * normally, under Guarantee.TRANSACTION: "return" for statuses below 500, except
	 * those that ask for the same request again (401, 408, 412, 425, 428, 429), "success"
	 * for statuses below 400.
	 * @param storedHeaders Response headers that are stored and replayed, besides
	 * Content-Type and the Location of a redirect. By default all that the application
	 * sets, except those that are never stored.
	 * @param excludedHeaders Response headers that are not stored. Not together with
	 * stored-headers.
	 * @param waitTimeout How long a duplicate waits for the first request under
	 * OnPending.WAIT.
	 * @param problemBaseUri Absolute URI that the "type" of problem details begins with,
	 * such as where your documentation describes them. The name of the problem is
	 * appended.
	 */
	@ConfigurationProperties("idempotent.web")
	record Web(@DefaultValue("Idempotency-Key") String header, @DefaultValue List<String> requiredFor,
			@DefaultValue("1MB") DataSize maxRequestBody, @DefaultValue("1MB") DataSize maxResponseBody,
			@DefaultValue("16MB") DataSize maxBufferedResponse,
			@DefaultValue("100-400,402,404-407,410-411,413-424,426-427,430-499") List<String> storedStatuses,
			@DefaultValue("return") CommitOn commitOn, @DefaultValue List<String> storedHeaders,
			@DefaultValue List<String> excludedHeaders, @DefaultValue("10s") Duration waitTimeout,
			@DefaultValue("urn:problem-type:idempotency:") String problemBaseUri) {

		private static final DataSize MOST = DataSize.ofMegabytes(512);

		Web {
			requireDuration("idempotent.web.wait-timeout", waitTimeout);
			requireInMemory("idempotent.web.max-request-body", maxRequestBody);
			requireInMemory("idempotent.web.max-response-body", maxResponseBody);
			requireInMemory("idempotent.web.max-buffered-response", maxBufferedResponse);
			// Fails before any server starts.
			IdempotencyWebComponents
				.check(new IdempotencyWebSettings("", header, requiredFor, 0, 0, 0, storedStatuses, commitOn,
						storedHeaders, excludedHeaders, List.of(), OnError.RELEASE, waitTimeout, problemBaseUri, null));
		}

		private static void requireInMemory(String property, DataSize size) {
			if (size.isNegative() || size.compareTo(MOST) > 0) {
				throw new IdempotentConfigurationException(
						"%s is %s, but bodies are buffered in memory.".formatted(property, size),
						"Set %s to a size between 0 and %dMB.".formatted(property, MOST.toMegabytes()));
			}
		}

		IdempotencyWebSettings settings(String namespace, OnError onError, List<ResponseRedactor> redactors,
				@Nullable ProblemRenderer problemRenderer) {
			return new IdempotencyWebSettings(namespace, this.header, this.requiredFor,
					(int) this.maxRequestBody.toBytes(), (int) this.maxResponseBody.toBytes(),
					(int) this.maxBufferedResponse.toBytes(), this.storedStatuses, this.commitOn, this.storedHeaders,
					this.excludedHeaders, redactors, onError, this.waitTimeout, this.problemBaseUri, problemRenderer);
		}

	}

	/**
	 * Properties of idempotent methods and of the IdempotencyTemplate.
	 *
	 * @param waitTimeout How long a duplicate waits for the first run under
	 * OnPending.WAIT.
	 */
	@ConfigurationProperties("idempotent.method")
	record Method(@DefaultValue("10s") Duration waitTimeout) {

		Method {
			requireDuration("idempotent.method.wait-timeout", waitTimeout);
		}

	}

	/**
	 * Properties of idempotent methods that are the tools of agents.
	 *
	 * @param metaNames Names of members of "_meta" in which MCP clients send an
	 * idempotency key.
	 * @param singleCaller Whether all calls without a principal and a conversation have
	 * one caller. Otherwise they are refused, unless the client of an MCP server over
	 * stdio has made them.
	 */
	@ConfigurationProperties("idempotent.tool")
	record Tool(@DefaultValue( {
			"idempotencyKey", "idempotency-key", "idempotency_key" }) List<String> metaNames,
			@DefaultValue("false") boolean singleCaller){
	}

	/**
	 * Properties of the HTTP calls that idempotent runs make to other services.
	 *
	 * @param targets Services that receive a derived Idempotency-Key: by name, the
	 * locations of each as "[scheme://]host[:port][/path]". None by default.
	 * @param repeatable Locations of services whose calls may be repeated without a key,
	 * such as the request of a token. None by default.
	 * @param honouringKeys Names of targets that do nothing twice under one key and
	 * answer a repeated request as the first one. Their refusal of a repeated call of a
	 * saga is believed. None by default. A client with RestClientKeys states it itself.
	 */
	@ConfigurationProperties("idempotent.client")
	record Client(@DefaultValue Map<String, List<String>> targets, @DefaultValue List<String> repeatable,
			@DefaultValue List<String> honouringKeys) {

		Client {
			parse("targets", targets, List.of(), List.of());
			parse("repeatable", targets, repeatable, List.of());
			parse("honouring-keys", targets, repeatable, honouringKeys);
		}

		PropagationTargets propagationTargets() {
			return PropagationTargets.of(this.targets, this.repeatable).honouringKeys(this.honouringKeys);
		}

		private static void parse(String property, Map<String, List<String>> targets, List<String> repeatable,
				List<String> honouringKeys) {
			try {
				PropagationTargets unused = PropagationTargets.of(targets, repeatable).honouringKeys(honouringKeys);
			}
			catch (IllegalArgumentException ex) {
				throw new IdempotentConfigurationException(
						"idempotent.client.%s: %s.".formatted(property, ex.getMessage()),
						"Give each service one name, and list all locations at which it can be reached, such as "
								+ "idempotent.client.targets.payments=pay.example.com,https://api.example.com/payments; "
								+ "list services whose calls may be repeated without a key in idempotent.client.repeatable. "
								+ "Where a client with RestClientKeys calls a service that honours keys, but is not "
								+ "a target, apply forService(name).honouringKeys() to it.",
						ex);
			}
		}

	}

	/**
	 * Properties of the Redis store.
	 *
	 * @param keyPrefix Prefix of all Redis keys.
	 * @param timeout How long to wait for a connection and for each reply. Applies to
	 * Lettuce; other clients use the application's timeout.
	 * @param waitReplicas How many replicas must confirm a claim before its request runs,
	 * and a response before it counts as stored. Needs Lettuce and a standalone or
	 * Sentinel Redis.
	 * @param waitTimeout How long to wait for the replicas. A claim that is not confirmed
	 * in time is released and the request gets 503; a response is sent, and stored again
	 * in the background.
	 */
	@ConfigurationProperties("idempotent.redis")
	record Redis(@DefaultValue("idempotency:") String keyPrefix, @DefaultValue("500ms") Duration timeout,
			@DefaultValue("0") int waitReplicas, @DefaultValue("100ms") Duration waitTimeout) {

		Redis {
			requireDuration("idempotent.redis.timeout", timeout);
			requireDuration("idempotent.redis.wait-timeout", waitTimeout);
			if (waitReplicas < 0) {
				throw new IdempotentConfigurationException(
						"idempotent.redis.wait-replicas is %d.".formatted(waitReplicas),
						"Set it to the number of replicas that must confirm a key, or to 0 to wait for none.");
			}
			if (waitReplicas > 0 && waitTimeout.compareTo(timeout) >= 0) {
				throw new IdempotentConfigurationException(
						"idempotent.redis.wait-timeout (%s) is not shorter than idempotent.redis.timeout (%s)."
							.formatted(waitTimeout, timeout),
						"Set idempotent.redis.wait-timeout to a shorter duration than idempotent.redis.timeout.");
			}
		}

		boolean waitsForReplicas() {
			return this.waitReplicas > 0;
		}

	}

	/**
	 * Properties of the JDBC store.
	 *
	 * @param initializeSchema When to create the table at startup.
	 * @param table Name of the table, optionally with a schema.
	 * @param lockTimeout How long a claim waits for an open transaction that holds its
	 * key. MySQL and MariaDB wait whole seconds.
	 * @param maxWaiters How many claims may hold a connection while they wait, if no
	 * other store detects duplicates first, as with idempotent.store=jdbc. Defaults to a
	 * quarter of the pool.
	 * @param sweepInterval How often expired keys are deleted.
	 * @param transactionManager Bean name of the transaction manager for operations under
	 * Guarantee.TRANSACTION that specify none. Defaults to the only or primary one.
	 */
	@ConfigurationProperties("idempotent.jdbc")
	public record Jdbc(@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
			@DefaultValue(Jdbc.DEFAULT_TABLE) String table, @DefaultValue("200ms") Duration lockTimeout,
			@Nullable Integer maxWaiters, @DefaultValue("1m") Duration sweepInterval,
			@Nullable String transactionManager) {

		static final String DEFAULT_TABLE = "idempotency_record";

		public Jdbc {
			requireDuration("idempotent.jdbc.lock-timeout", lockTimeout);
			requireDuration("idempotent.jdbc.sweep-interval", sweepInterval);
			if (maxWaiters != null && maxWaiters < 1) {
				throw new IdempotentConfigurationException("idempotent.jdbc.max-waiters is %d.".formatted(maxWaiters),
						"Set it to the number of connections that may wait, at least 1, or omit it.");
			}
			if (!Database.isTableName(table)) {
				throw new IdempotentConfigurationException("idempotent.jdbc.table is not a valid table name.",
						"Set it to a name of letters, digits and underscores, optionally with a schema.");
			}
		}

	}

	/**
	 * Properties of the replay cache.
	 *
	 * @param maxSize Memory for completed keys and their responses, which are then
	 * replayed without reading the store. Needs Caffeine. Zero disables the cache.
	 * @param ttl How long a key stays in memory at most. For that time it may be replayed
	 * after the store has lost it.
	 */
	@ConfigurationProperties("idempotent.replay-cache")
	record ReplayCache(@DefaultValue("0B") DataSize maxSize, @DefaultValue("60s") Duration ttl) {

		ReplayCache {
			requireDuration("idempotent.replay-cache.ttl", ttl);
			if (maxSize.isNegative()) {
				throw new IdempotentConfigurationException("idempotent.replay-cache.max-size is %s.".formatted(maxSize),
						"Set it to the memory for the cache, such as 16MB, or omit it.");
			}
		}

		boolean isOn() {
			return this.maxSize.toBytes() > 0;
		}

	}

	/**
	 * Properties of one-time tokens.
	 *
	 * @param secrets Secrets as id:base64, each at least 32 random bytes. The first signs
	 * tokens, all verify them.
	 * @param validity How long a token can be used after it was issued.
	 */
	@ConfigurationProperties("idempotent.token")
	record Token(@DefaultValue List<String> secrets, @DefaultValue("2h") Duration validity) {

		static final String SECRETS = "idempotent.token.secrets";

		private static final String GENERATE = "List secrets as id:base64, such as k1: followed by the output of: openssl rand -base64 32";

		private static final Duration LONGEST = Duration.ofDays(365);

		Token {
			decode(secrets);
			if (validity.compareTo(Duration.ofSeconds(1)) < 0 || validity.compareTo(LONGEST) > 0) {
				throw new IdempotentConfigurationException(
						"idempotent.token.validity is %s, but must be between 1 s and 365 days.".formatted(validity),
						"Set it to how long a page may be open before it is sent, such as 2h.");
			}
		}

		/**
		 * Returns whether there is a secret.
		 * @throws IdempotentConfigurationException if they are not a list: Boot's own
		 * message would show them
		 */
		static boolean hasSecrets(Environment environment) {
			try {
				return !Binder.get(environment)
					.bind(SECRETS, Bindable.listOf(String.class))
					.orElse(List.of())
					.isEmpty();
			}
			catch (BindException ex) {
				throw invalid(SECRETS + " is not a list without gaps from [0]");
			}
		}

		List<TokenSecret> decoded() {
			List<TokenSecret> decoded = new ArrayList<>();
			decode(this.secrets).forEach((id, bytes) -> decoded.add(new TokenSecret(id, bytes)));
			return decoded;
		}

		private static Map<String, byte[]> decode(List<String> secrets) {
			Map<String, byte[]> decoded = new LinkedHashMap<>();
			for (int i = 0; i < secrets.size(); i++) {
				// Messages must not contain a secret, which may be in the place of the
				// id.
				String property = SECRETS + "[" + i + "]";
				String entry = secrets.get(i).strip();
				if (entry.contains("${")) {
					throw invalid(
							property + " has a placeholder for a property or environment variable that is not set");
				}
				int colon = entry.indexOf(':');
				String id = entry.substring(0, Math.max(colon, 0));
				if (!TokenSecret.isId(id)) {
					throw invalid(property + " does not begin with an id and a colon; an id has 1 to 32 lower-case "
							+ "letters, digits and dashes");
				}
				byte[] bytes = decode(property, entry.substring(colon + 1));
				decoded.forEach((other, otherBytes) -> {
					if (other.equals(id) || Arrays.equals(bytes, otherBytes)) {
						throw invalid(property + " has the same id or the same secret as '" + other + "'");
					}
				});
				decoded.put(id, bytes);
			}
			return decoded;
		}

		private static byte[] decode(String property, String base64) {
			byte[] bytes;
			try {
				bytes = Base64.getDecoder().decode(base64.strip());
			}
			catch (IllegalArgumentException ex) {
				// The message of the exception contains a character of the secret.
				throw invalid(property + " is not valid Base64 after its id");
			}
			if (bytes.length < TokenSecret.MIN_BYTES) {
				throw invalid("%s has %d bytes, but must have at least %d".formatted(property, bytes.length,
						TokenSecret.MIN_BYTES));
			}
			return bytes;
		}

		private static IdempotentConfigurationException invalid(String problem) {
			return new IdempotentConfigurationException(problem + ".", GENERATE + ".");
		}

		/**
		 * Returns the properties without the secrets.
		 */
		@Override
		public String toString() {
			return "IdempotencyProperties.Token[secrets=" + this.secrets.size() + ", validity=" + this.validity + "]";
		}

	}

}
