-- Workers that hash fields of keys agree on their secret; this tells it from any other, and says nothing about it.
ALTER TABLE warp_store ADD COLUMN key_secret TEXT;
