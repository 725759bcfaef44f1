package dev.idempotent.idempotency.client;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.client.TargetLocation.Url;
import org.jspecify.annotations.Nullable;

/**
 * The services that derived keys may be sent to. Each has a name, which is part of the
 * keys, and the locations where it can be reached, which are not: it keeps its keys when
 * it moves.
 */
public final class PropagationTargets {

	/**
	 * In place of a name.
	 */
	private static final String REPEATABLE = "";

	private static final Pattern NAME = Pattern.compile("(?=.{1,100}$)[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*");

	/**
	 * The most specific location of a URL comes first.
	 */
	private static final Comparator<Place> SPECIFIC_FIRST = Comparator
		.<Place>comparingInt((place) -> -place.location().path().length())
		.thenComparing((place) -> place.location().scheme() == null)
		.thenComparing((place) -> !place.location().hasPort());

	private final List<Place> places;

	/**
	 * The canonical names of the targets that honour keys.
	 */
	private final Set<String> honouring;

	private PropagationTargets(List<Place> places, Set<String> honouring) {
		this.places = places;
		this.honouring = honouring;
	}

	/**
	 * Parses targets.
	 * @param locations the locations of each target by its name, as
	 * {@code [scheme://]host[:port][/path]}. Names consist of at most 100 letters,
	 * digits, dashes and underscores, with a letter among them; {@code payment-service}
	 * and {@code PAYMENTSERVICE} are the same name
	 * @return the targets
	 * @throws IllegalArgumentException if a name or location is malformed, two names are
	 * the same, a target has no location, or two have the same; the message omits
	 * locations, which might contain credentials
	 */
	public static PropagationTargets of(Map<String, ? extends List<String>> locations) {
		return of(locations, List.of());
	}

	/**
	 * Parses targets, and services whose calls may be repeated without a key.
	 * @param locations the locations of each target by its name
	 * @param repeatable the locations of services that get no key, and whose calls a run
	 * may make at any time and again, such as the request of a token
	 * @return the targets
	 * @throws IllegalArgumentException as for {@link #of(Map)}, also if a location is
	 * both
	 */
	public static PropagationTargets of(Map<String, ? extends List<String>> locations, List<String> repeatable) {
		List<Place> places = new ArrayList<>();
		Map<String, String> names = new HashMap<>();
		Map<TargetLocation, String> owners = new HashMap<>();
		locations.forEach((name, texts) -> {
			String spelling = names.put(canonical(name), name);
			require(spelling == null, spelling + " and " + name + " are the same name");
			require(!texts.isEmpty(), name + " has no location");
			for (int i = 0; i < texts.size(); i++) {
				TargetLocation location = parse(name, i, texts.get(i));
				String owner = owners.put(location, name);
				require(owner == null || owner.equals(name), owner + " and " + name + " have the same location");
				places.add(new Place(canonical(name), location));
			}
		});
		for (int i = 0; i < repeatable.size(); i++) {
			TargetLocation location = parse("location", i, repeatable.get(i));
			String owner = owners.get(location);
			require(owner == null, "location[" + i + "] is also one of the target " + owner);
			places.add(new Place(REPEATABLE, location));
		}
		places.sort(SPECIFIC_FIRST);
		return new PropagationTargets(List.copyOf(places), Set.of());
	}

	/**
	 * Names the targets that do nothing twice under one key, and answer the second
	 * request as the first one, whether or not they mark that: after an attempt without
	 * an answer, their refusal is one of the first attempt, too.
	 * @param names names of targets
	 * @return the targets
	 * @throws IllegalArgumentException if a name belongs to no target
	 */
	public PropagationTargets honouringKeys(Collection<String> names) {
		Set<String> known = this.places.stream().map(Place::target).collect(Collectors.toSet());
		Set<String> honoured = new HashSet<>();
		for (String name : names) {
			String target = canonical(name);
			require(known.contains(target), name + " is not the name of a target");
			honoured.add(target);
		}
		return new PropagationTargets(this.places, Set.copyOf(honoured));
	}

	/**
	 * Whether keys are sent to no service.
	 * @return whether there is no target
	 */
	public boolean isEmpty() {
		return this.places.stream().allMatch((place) -> place.target().equals(REPEATABLE));
	}

	/**
	 * Returns the form of a name that all sources of configuration can write: an
	 * environment variable has neither dashes nor lower case.
	 */
	static String canonical(String name) {
		// The name is not shown, because it might be a location.
		require(NAME.matcher(name).matches(),
				"the name of a target consists of at most 100 letters, digits, dashes and underscores, with a letter "
						+ "among them");
		return name.replaceAll("[_-]", "").toLowerCase(Locale.ROOT);
	}

	private static TargetLocation parse(String name, int index, String text) {
		try {
			return TargetLocation.parse(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(name + "[" + index + "] " + ex.getMessage());
		}
	}

	private static void require(boolean condition, String mistake) {
		if (!condition) {
			throw new IllegalArgumentException(mistake);
		}
	}

	/**
	 * Finds the target of a URL.
	 * @return the name of the target and the path below its location, which may be
	 * repeatable; {@code null} if the URL belongs to none
	 */
	@Nullable Resource find(URI uri) {
		Url url = this.places.isEmpty() ? null : TargetLocation.normalize(uri);
		if (url == null) {
			return null;
		}
		return this.places.stream()
			.filter((place) -> place.location().matches(url))
			.findFirst()
			.map((place) -> new Resource(place.target(), place.location().below(url),
					this.honouring.contains(place.target())))
			.orElse(null);
	}

	/**
	 * Finds the resource of a service that is called at any URL. Where the URL belongs to
	 * none of its locations, the path below the host is called.
	 * @param service the canonical name of the service
	 */
	Resource find(URI uri, String service) {
		Resource found = find(uri);
		if (found != null && found.target().equals(service)) {
			return found;
		}
		Url url = TargetLocation.normalize(uri);
		return new Resource(service, (url != null) ? url.path() : uri.toString(), this.honouring.contains(service));
	}

	private record Place(String target, TargetLocation location) {
	}

	/**
	 * What is called, wherever its target is.
	 *
	 * @param target the name of the target
	 * @param path the path below the path of the location
	 * @param honoursKeys whether the target is named as one that honours keys
	 */
	record Resource(String target, String path, boolean honoursKeys) {

		/**
		 * Whether calls may be repeated, and get no key.
		 */
		boolean isRepeatable() {
			return this.target.equals(REPEATABLE);
		}
	}

}
