package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.token.TokenSecret;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * Properties of one-time tokens.
 *
 * @param secrets Secrets as id:base64, each at least 32 random bytes. The first signs
 * tokens, all verify them.
 * @param validity How long a token can be used after it was issued.
 */
@ConfigurationProperties("idempotent.token")
record TokenProperties(@DefaultValue List<String> secrets, @DefaultValue("2h") Duration validity) {

	static final String SECRETS = "idempotent.token.secrets";

	private static final String GENERATE = "List secrets as id:base64, such as k1: followed by the output of: openssl rand -base64 32";

	private static final Duration LONGEST = Duration.ofDays(365);

	TokenProperties {
		decode(secrets);
		if (validity.compareTo(Duration.ofSeconds(1)) < 0 || validity.compareTo(LONGEST) > 0) {
			throw new IdempotentConfigurationException(
					"idempotent.token.validity is %s, but must be between 1 s and 365 days.".formatted(validity),
					"Set it to how long a page may be open before it is sent, such as 2h.", null);
		}
	}

	/**
	 * Returns whether there is a secret.
	 * @throws IdempotentConfigurationException if they are not a list: Boot's own message
	 * would show them
	 */
	static boolean hasSecrets(Environment environment) {
		try {
			return !Binder.get(environment).bind(SECRETS, Bindable.listOf(String.class)).orElse(List.of()).isEmpty();
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
			// Messages must not contain a secret, which may be in the place of the id.
			String property = SECRETS + "[" + i + "]";
			String entry = secrets.get(i).strip();
			if (entry.contains("${")) {
				throw invalid(property + " has a placeholder for a property or environment variable that is not set");
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
			// Its message has a character of the secret.
			throw invalid(property + " is not valid Base64 after its id");
		}
		if (bytes.length < TokenSecret.MIN_BYTES) {
			throw invalid("%s has %d bytes, but must have at least %d".formatted(property, bytes.length,
					TokenSecret.MIN_BYTES));
		}
		return bytes;
	}

	private static IdempotentConfigurationException invalid(String problem) {
		return new IdempotentConfigurationException(problem + ".", GENERATE + ".", null);
	}

	/**
	 * Returns the properties without the secrets.
	 */
	@Override
	public String toString() {
		return "TokenProperties[secrets=" + this.secrets.size() + ", validity=" + this.validity + "]";
	}

}
