package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

/**
 * Annotated methods with results of many types.
 */
class Catalogue extends Shelf<Shelf.Article> {

	private final AtomicInteger runs = new AtomicInteger();

	private final Effects effects;

	Catalogue(Effects effects) {
		this.effects = effects;
	}

	public int runs() {
		return this.runs.get();
	}

	@Override
	Article make() {
		int number = this.runs.incrementAndGet();
		return new Article("a" + number, number);
	}

	@Idempotent(key = "#key", name = "catalogue.article")
	public Article article(String key) {
		return make();
	}

	@Idempotent(key = "#key", name = "articles")
	public List<Article> articles(String key) {
		return List.of(make());
	}

	@Idempotent(key = "#key", name = "catalogue.by-name")
	public Map<String, Article> byName(String key) {
		return Map.of("one", make());
	}

	@Idempotent(key = "#key", name = "catalogue.found")
	public Optional<Article> found(String key) {
		return Optional.of(make());
	}

	@Idempotent(key = "#key", name = "catalogue.missing")
	public Optional<Article> missing(String key) {
		make();
		return Optional.empty();
	}

	@Idempotent(key = "#key", name = "catalogue.nothing")
	public @Nullable Article nothing(String key) {
		make();
		return null;
	}

	@Idempotent(key = "#key", name = "catalogue.count")
	public long count(String key) {
		return make().number();
	}

	@Idempotent(key = "#key", name = "catalogue.text")
	public String text(String key) {
		return make().name();
	}

	@Idempotent(key = "#key", name = "catalogue.act")
	public void act(String key) {
		make();
	}

	@Idempotent(key = "#key", name = "catalogue.later")
	public CompletableFuture<Article> later(String key) {
		return CompletableFuture.supplyAsync(this::make);
	}

	@Idempotent(key = "#key", name = "catalogue.all-later")
	public CompletableFuture<List<Article>> allLater(String key) {
		return CompletableFuture.supplyAsync(() -> List.of(make()));
	}

	@Idempotent(key = "#key", name = "catalogue.fails-later")
	public CompletableFuture<Article> failsLater(String key) {
		make();
		return CompletableFuture.failedFuture(new IllegalStateException("It fails"));
	}

	@Idempotent(key = "#key", ignore = "open", name = "catalogue.whenever")
	public CompletableFuture<String> whenever(String key, CompletableFuture<String> open) {
		make();
		return open;
	}

	@Idempotent(key = "#key", name = "catalogue.circle")
	public Circle circle(String key) {
		make();
		return new Circle();
	}

	@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "catalogue.circle-in-transaction")
	public Circle circleInTransaction(String key) {
		this.effects.add(key);
		return new Circle();
	}

	@Idempotent(name = "secret", key = "#key")
	public Secret secret(String key) {
		return new Secret(make().name(), "1234");
	}

	@Idempotent(name = "secret-in-transaction", key = "#key", guarantee = Guarantee.TRANSACTION)
	public Secret secretInTransaction(String key) {
		this.effects.add(key);
		return new Secret(key, "1234");
	}

	@Idempotent(name = "offset", key = "#key")
	public OffsetDateTime offset(String key) {
		make();
		return OffsetDateTime.parse("2026-01-01T00:00+01:00");
	}

	@Idempotent(name = "zone", key = "#key")
	public ZonedDateTime zone(String key) {
		make();
		return ZonedDateTime.parse("2026-01-01T00:00+01:00[Europe/Paris]");
	}

	@Idempotent(name = "prices", key = "#key")
	public Map<String, Object> prices(String key) {
		return Map.of(make().name(), new BigDecimal("1.5"));
	}

	@Idempotent(name = "tags", key = "#key")
	public Collection<String> tags(String key) {
		return Set.of(make().name());
	}

	@Idempotent(name = "failing", key = "#key")
	public Failing failing(String key) {
		make();
		return new Failing();
	}

	@Idempotent(name = "failing-later", key = "#key")
	public CompletableFuture<Failing> failingLater(String key) {
		return CompletableFuture.supplyAsync(() -> {
			make();
			return new Failing();
		});
	}

	@Idempotent(name = "basket", key = "#key")
	public Basket basket(String key) {
		return new Basket(make().name(), List.of(), Map.of(), OffsetDateTime.parse("2026-01-01T00:00+02:00"));
	}

	record Basket(String name, List<String> lines, Map<String, String> notes, OffsetDateTime at) {
	}

	@SuppressWarnings("UnusedVariable") // Read by reflection.
	static class Failing {

		private int id;

		public int getId() {
			throw new NoClassDefFoundError("com/example/Missing");
		}

		public void setId(int id) {
			this.id = id;
		}

	}

	record Secret(String name, @JsonIgnore String pin) {
	}

}
