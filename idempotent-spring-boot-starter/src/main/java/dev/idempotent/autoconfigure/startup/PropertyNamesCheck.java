package dev.idempotent.autoconfigure.startup;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Finds unknown properties under {@code idempotent.}, such as misspelt ones, in all
 * property sources that can list their names.
 */
final class PropertyNamesCheck {

	private static final Logger logger = LoggerFactory.getLogger(PropertyNamesCheck.class);

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("idempotent");

	private final Map<String, String> types;

	/**
	 * The names by their letters and digits only: an environment variable has no dashes,
	 * and its underscores may stand for dots.
	 */
	private final Map<String, String> byLetters = new HashMap<>();

	private final List<String> mistakes = new ArrayList<>();

	private final List<String> actions = new ArrayList<>();

	private final List<String> variables = new ArrayList<>();

	PropertyNamesCheck(Map<String, String> types) {
		this.types = types;
		types.keySet().forEach((name) -> this.byLetters.put(letters(ConfigurationPropertyName.of(name)), name));
	}

	/**
	 * Checks the names in an environment.
	 * @throws IdempotentConfigurationException if a property is unknown
	 */
	void check(Environment environment) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource listed) {
				listed.stream().filter(ROOT::isAncestorOf).forEach((name) -> check(name, source));
			}
		}
		if (!this.mistakes.isEmpty()) {
			throw new IdempotentConfigurationException(String.join(System.lineSeparator(), this.mistakes),
					String.join(System.lineSeparator(), this.actions));
		}
		if (!this.variables.isEmpty()) {
			logger.warn("These environment variables are not properties of this library and have no effect: {}",
					this.variables);
		}
	}

	private void check(ConfigurationPropertyName name, ConfigurationPropertySource source) {
		ConfigurationProperty property = source.getConfigurationProperty(name);
		boolean variable = source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
		if (property == null || isEntry(name) || isEmptyGroup(name, property)) {
			return;
		}
		String origin = Objects.toString(property.getOrigin(), "of unknown origin");
		if (isMap(name)) {
			this.mistakes.add("%s has a value of its own (%s).".formatted(name, origin));
			this.actions.add("Set %s.<name>, with a name for each value.".formatted(name));
			return;
		}
		if (isKnown(name, variable)) {
			return;
		}
		String nearest = nearest(name);
		// A platform may set variables with this prefix, such as for a service of that
		// name.
		if (variable && distance(letters(name), letters(ConfigurationPropertyName.of(nearest))) > 2) {
			this.variables.add(origin);
			return;
		}
		this.mistakes.add("There is no property %s (%s).".formatted(name, origin));
		this.actions.add("Did you mean %s? Correct %s or remove it.".formatted(nearest, name));
	}

	private boolean isKnown(ConfigurationPropertyName name, boolean variable) {
		ConfigurationPropertyName base = name;
		while (base.isLastElementIndexed()) {
			base = base.getParent();
		}
		int indices = name.getNumberOfElements() - base.getNumberOfElements();
		String known = this.byLetters.get(letters(base));
		if (known == null || (!variable && !ConfigurationPropertyName.of(known).equals(base))) {
			return false;
		}
		return indices == 0 || (indices == 1 && name.isNumericIndex(name.getNumberOfElements() - 1) && isList(known));
	}

	private boolean isMap(ConfigurationPropertyName name) {
		return Map.class.descriptorString().equals(this.types.get(name.toString()));
	}

	/**
	 * The records that have a map validate the names of its entries.
	 */
	private boolean isEntry(ConfigurationPropertyName name) {
		return this.types.keySet()
			.stream()
			.map(ConfigurationPropertyName::of)
			.anyMatch((known) -> isMap(known) && known.isAncestorOf(name));
	}

	private boolean isList(String known) {
		String type = this.types.get(known);
		return List.class.descriptorString().equals(type);
	}

	/**
	 * A YAML group that has comments only is an empty property, and so is an empty map.
	 */
	private boolean isEmptyGroup(ConfigurationPropertyName name, ConfigurationProperty property) {
		return property.getValue().toString().isEmpty() && (isMap(name) || this.types.keySet()
			.stream()
			.anyMatch((known) -> name.isAncestorOf(ConfigurationPropertyName.of(known))));
	}

	private String nearest(ConfigurationPropertyName name) {
		String letters = letters(name);
		String nearest = ROOT.toString();
		int least = Integer.MAX_VALUE;
		for (Map.Entry<String, String> known : this.byLetters.entrySet()) {
			int distance = distance(letters, known.getKey());
			if (distance < least || (distance == least && known.getValue().compareTo(nearest) < 0)) {
				least = distance;
				nearest = known.getValue();
			}
		}
		return nearest;
	}

	private static String letters(ConfigurationPropertyName name) {
		StringBuilder letters = new StringBuilder();
		for (int i = 0; i < name.getNumberOfElements(); i++) {
			letters.append(name.getElement(i, Form.UNIFORM));
		}
		return letters.toString();
	}

	/**
	 * The Levenshtein distance.
	 */
	private static int distance(String one, String other) {
		int[] row = new int[other.length() + 1];
		for (int j = 0; j <= other.length(); j++) {
			row[j] = j;
		}
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
			}
		}
		return row[other.length()];
	}

}
