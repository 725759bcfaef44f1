package dev.idempotent.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.IdempotencyContext.Criteria;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.idempotency.ServiceResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.util.StreamUtils;

/**
 * The response to one attempt of a call. The call is done only if the response reports a
 * success and has the proof that the run requires. It is marked as unanswered if it fails
 * or its body cannot be read to the end: the next equal call is then a retry and gets the
 * same key.
 */
final class PendingCall implements ClientHttpResponse {

	static final String KEY_HEADER = "Idempotency-Key";

	private static final Logger logger = LoggerFactory.getLogger(PendingCall.class);

	private static final Set<HttpMethod> SAFE_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS,
			HttpMethod.TRACE);

	private static final String REPLAYED_HEADER = "Idempotent-Replayed";

	private static final int NOT_MODIFIED = 304;

	private static final int FIRST_SUCCESS = 200;

	private static final int FIRST_REDIRECT = 300;

	private static final int FIRST_REFUSAL = 400;

	/**
	 * The last part of the type of a problem detail, which each service can give a base
	 * of its own. Not in a string of JSON, where the quotes would be escaped.
	 */
	private static final Pattern PROBLEM = Pattern.compile("\"type\"\\s*+:\\s*+\"[^\"\\\\]*[/#:=]([a-z0-9-]{1,100})\"");

	private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

	private final CallAttempt attempt;

	private final ClientHttpResponse response;

	private byte @Nullable [] body;

	private PendingCall(CallAttempt attempt, ClientHttpResponse response) {
		this.attempt = attempt;
		this.response = response;
	}

	/**
	 * Sends the request.
	 * @param criteria what the response must show
	 * @param honoursKeys whether the service is named as one that honours keys
	 * @throws IOException if the request or its response fails
	 */
	static ClientHttpResponse send(CallAttempt attempt, Criteria criteria, boolean honoursKeys, HttpRequest request,
			byte[] body, ClientHttpRequestExecution execution) throws IOException {
		boolean answered = false;
		try {
			PendingCall call = new PendingCall(attempt, execution.execute(request, body));
			answered = call.isAnswerOrClosed(request, criteria, honoursKeys);
			return call;
		}
		finally {
			if (!answered) {
				attempt.markUnanswered();
			}
		}
	}

	private boolean isAnswerOrClosed(HttpRequest request, Criteria criteria, boolean honoursKeys) throws IOException {
		boolean read = false;
		try {
			boolean answer = isAnswer(request, criteria, honoursKeys);
			read = true;
			return answer;
		}
		finally {
			if (!read) {
				this.response.close();
			}
		}
	}

	static boolean isSafe(HttpMethod method) {
		return SAFE_METHODS.contains(method);
	}

	private boolean isAnswer(HttpRequest request, Criteria criteria, boolean honoursKeys) throws IOException {
		int status;
		try {
			status = this.response.getStatusCode().value();
		}
		catch (IOException ex) {
			// The caller gets the same exception when it reads the status.
			return false;
		}
		boolean safe = isSafe(request.getMethod());
		String key = safe ? null : request.getHeaders().getFirst(KEY_HEADER);
		Evidence evidence = evidence(status, key, criteria);
		this.attempt.markAnswered(new Answer(status, key != null && isReplay(this.response.getHeaders()), evidence,
				isPage(), problem(status), key != null && honoursKeys, isNamed(status, evidence, criteria)));
		if (isDone(safe, status)) {
			if (evidence.isCredible()) {
				this.attempt.markDone();
			}
			else if (safe) {
				this.attempt.markUnproven();
			}
		}
		return Answer.isFinal(status) && (safe || evidence.isCredible());
	}

	/**
	 * A receipt cannot be required of a call without a key, nor of a look-up.
	 */
	private Evidence evidence(int status, @Nullable String key, Criteria criteria) throws IOException {
		Predicate<ServiceResponse> proof = criteria.proof();
		if (key == null) {
			if (proof == null || !criteria.keyless()) {
				return Evidence.NONE;
			}
			return proves(proof, new Received(status, false)) ? Evidence.PROVEN : Evidence.MISSING;
		}
		String receipt = this.response.getHeaders().getFirst(IdempotencyReceipt.HEADER);
		boolean received = IdempotencyReceipt.of(unquoted(key)).equals(receipt);
		if (receipt != null && !received) {
			return Evidence.OPEN;
		}
		if (proof != null && !proves(proof, new Received(status, received))) {
			return Evidence.MISSING;
		}
		return received ? Evidence.RECEIPT : (proof != null) ? Evidence.PROVEN : Evidence.NONE;
	}

	/**
	 * What is not known to come from the service is not recognized.
	 */
	private boolean isNamed(int status, Evidence evidence, Criteria criteria) throws IOException {
		Predicate<ServiceResponse> named = criteria.named();
		return named != null && evidence.isCredible()
				&& proves(named, new Received(status, evidence == Evidence.RECEIPT));
	}

	/**
	 * A proof that throws, such as on a page instead of JSON, does not count.
	 */
	private static boolean proves(Predicate<ServiceResponse> proof, Received received) throws IOException {
		try {
			return proof.test(received);
		}
		catch (UncheckedIOException ex) {
			throw ex.getCause();
		}
		catch (RuntimeException ex) {
			logger.debug("What proves or names a response has failed", ex);
			return false;
		}
	}

	/**
	 * Returns the key that a header contains, which may be a string of structured
	 * headers.
	 */
	private static String unquoted(String header) {
		boolean quoted = header.length() > 1 && header.startsWith("\"") && header.endsWith("\"");
		return quoted ? ESCAPED.matcher(header.substring(1, header.length() - 1)).replaceAll("$1") : header;
	}

	/**
	 * Returns whether the service states that the response is a replay, and nothing else:
	 * as text, or as a boolean of structured headers.
	 */
	private static boolean isReplay(HttpHeaders headers) {
		List<String> values = headers.getOrEmpty(REPLAYED_HEADER);
		return !values.isEmpty() && values.stream()
			.map(String::strip)
			.allMatch((value) -> value.equalsIgnoreCase("true") || value.equals("?1"));
	}

	/**
	 * A safe request has no effect, so it is done, too, if there is nothing to read.
	 */
	private static boolean isDone(boolean safe, int status) {
		return (status >= FIRST_SUCCESS && status < FIRST_REDIRECT)
				|| (safe && (status == NOT_MODIFIED || (status >= FIRST_REFUSAL && Answer.isFinal(status))));
	}

	private boolean isPage() {
		String type = contentType();
		return type.startsWith("text/html") || type.startsWith("application/xhtml");
	}

	/**
	 * Reads the problem detail of an error. Other bodies are left to the caller.
	 */
	private @Nullable String problem(int status) throws IOException {
		if (status < FIRST_REFUSAL || !contentType().startsWith(MediaType.APPLICATION_PROBLEM_JSON_VALUE)) {
			return null;
		}
		Matcher type = PROBLEM.matcher(new String(buffered(), StandardCharsets.UTF_8));
		return type.find() ? type.group(1) : null;
	}

	private String contentType() {
		String type = this.response.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
		return (type != null) ? type.strip().toLowerCase(Locale.ROOT) : "";
	}

	private byte[] buffered() throws IOException {
		byte[] bytes = this.body;
		if (bytes == null) {
			bytes = StreamUtils.copyToByteArray(this.response.getBody());
			this.body = bytes;
		}
		return bytes;
	}

	@Override
	public HttpStatusCode getStatusCode() throws IOException {
		return this.response.getStatusCode();
	}

	@Override
	public String getStatusText() throws IOException {
		return this.response.getStatusText();
	}

	@Override
	public HttpHeaders getHeaders() {
		return this.response.getHeaders();
	}

	@Override
	public InputStream getBody() throws IOException {
		byte[] bytes = this.body;
		if (bytes != null) {
			return new ByteArrayInputStream(bytes);
		}
		try {
			return watch(this.response.getBody());
		}
		catch (IOException ex) {
			this.attempt.markUnanswered();
			throw ex;
		}
	}

	@Override
	public void close() {
		this.response.close();
	}

	private InputStream watch(InputStream stream) {
		return new FilterInputStream(stream) {

			@Override
			public int read() throws IOException {
				try {
					return super.read();
				}
				catch (IOException ex) {
					PendingCall.this.attempt.markUnanswered();
					throw ex;
				}
			}

			@Override
			public int read(byte[] bytes, int offset, int length) throws IOException {
				try {
					return super.read(bytes, offset, length);
				}
				catch (IOException ex) {
					PendingCall.this.attempt.markUnanswered();
					throw ex;
				}
			}

		};
	}

	/**
	 * The response for those who decide what it proves. Its body is read if they ask for
	 * it.
	 */
	private final class Received implements ServiceResponse {

		private final int status;

		private final boolean receipt;

		private Received(int status, boolean receipt) {
			this.status = status;
			this.receipt = receipt;
		}

		@Override
		public int status() {
			return this.status;
		}

		@Override
		public @Nullable String header(String name) {
			return PendingCall.this.response.getHeaders().getFirst(name);
		}

		@Override
		public String body() {
			try {
				return new String(buffered(), charset());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private Charset charset() {
			try {
				MediaType type = PendingCall.this.response.getHeaders().getContentType();
				Charset stated = (type != null) ? type.getCharset() : null;
				return (stated != null) ? stated : StandardCharsets.UTF_8;
			}
			catch (IllegalArgumentException ex) {
				return StandardCharsets.UTF_8;
			}
		}

		@Override
		public boolean hasReceipt() {
			return this.receipt;
		}

	}

}
