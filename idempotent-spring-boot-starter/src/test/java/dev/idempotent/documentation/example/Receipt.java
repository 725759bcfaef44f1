package dev.idempotent.documentation.example;

import java.util.UUID;

record Receipt(UUID id, String booking, int amount) {
}
