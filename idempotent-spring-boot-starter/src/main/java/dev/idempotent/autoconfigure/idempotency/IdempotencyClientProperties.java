package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.client.PropagationTarget;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the HTTP calls that idempotent runs make to other services.
 *
 * @param targets Services that receive a derived Idempotency-Key, as
 * "[scheme://]host[:port][/path]". None by default.
 */
@ConfigurationProperties("idempotent.client")
record IdempotencyClientProperties(@DefaultValue List<String> targets) {

	IdempotencyClientProperties {
		parse(targets);
	}

	List<PropagationTarget> propagationTargets() {
		return parse(this.targets);
	}

	private static List<PropagationTarget> parse(List<String> targets) {
		List<PropagationTarget> parsed = new ArrayList<>(targets.size());
		for (String target : targets) {
			try {
				parsed.add(PropagationTarget.parse(target));
			}
			catch (IllegalArgumentException ex) {
				throw new IdempotentConfigurationException(
						"idempotent.client.targets[%d] %s.".formatted(parsed.size(), ex.getMessage()),
						"List hosts, such as pay.example.com or https://api.example.com/payments.", ex);
			}
		}
		return parsed;
	}

}
